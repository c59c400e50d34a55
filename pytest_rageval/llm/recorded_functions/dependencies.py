"""Digest what the results of a user's function depend on: its code, and its ``depends``."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.llm.recorded_functions.source_digest import DIGITS, Import, content_digest, read_source
from pytest_rageval.llm.recorded_functions.tagged_json import encode
from pytest_rageval.llm.recordings.records import as_json

__all__ = ["Dependencies", "calling_file"]

PACKAGE = Path(__file__).parents[2]

INSTALLED = frozenset({"site-packages", "dist-packages"})
"""Folders of installed packages, which may be inside the rootdir."""


class Dependencies:
    """The dependencies of the results of one function.

    Args:
        name: the function's name, for messages.
        function: the function, method or callable object.
        caller: the file that calls ``recorded``, whose code counts too; None if only the function's code counts.
        depends: the files, folders and settings in the user's ``depends``.
    """

    def __init__(self, name: str, function: Callable[..., Any], caller: Path | None, depends: Iterable[object]) -> None:
        if isinstance(depends, str | os.PathLike | Mapping) or not isinstance(depends, Iterable):
            raise SettingError(f"depends of {name} is {short_repr(depends)}; write a list, as depends=['prompts.toml']")
        self._name = name
        self._caller = caller
        self._code = [*_files_of(function), *([] if caller is None else [caller])]
        self._depends = tuple(depends)
        self._code_digests_by_root: dict[Path, dict[str, str]] = {}

    def digests(self, root: Path) -> dict[str, str]:
        """Return name -> digest of each dependency; the name is a path relative to ``root``, or names a setting.

        Code is read once, as Python does. The files and settings in ``depends`` are read each time.

        Raises:
            SettingError: a file in ``depends`` does not exist or cannot be read, or a setting is not a JSON value.
        """
        if root not in self._code_digests_by_root:
            self._code_digests_by_root[root] = _code_digests(self._code, root)
        return self._code_digests_by_root[root] | self._digests_of_depends(root)

    def _digests_of_depends(self, root: Path) -> dict[str, str]:
        digests = {}
        for at, item in enumerate(self._depends):
            if isinstance(item, str | os.PathLike):
                digests.update(self._files(Path(item), root))
            elif isinstance(item, Mapping) and all(isinstance(key, str) for key in item):
                digests.update((f"setting {key}", self._setting(value)) for key, value in item.items())
            else:
                digests[f"depends[{at}]"] = self._setting(item)
        return digests

    def _files(self, depends: Path, root: Path) -> dict[str, str]:
        """Return the digests of a file or of a folder's files; for Python files also of their imports."""
        folder_of_caller = root if self._caller is None else self._caller.parent
        path = next((folder / depends for folder in (folder_of_caller, root) if (folder / depends).exists()), None)
        if path is None:
            raise SettingError(
                f"depends of {self._name} names the file {short_repr(str(depends))}, which does not exist; "
                "correct it, or write a setting as a dict, as {'model': 'gpt-4o'}"
            )
        files = [path] if path.is_file() else [file for file in sorted(path.rglob("*")) if _is_data(file, path)]
        try:
            digests = _code_digests([file for file in files if file.suffix == ".py"], root)
            for file in files:
                if _code_name(file, root) is None:
                    name = _relative(file, root) or (depends / file.relative_to(path)).as_posix()
                    digests[name] = content_digest(file)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise SettingError(f"depends of {self._name}: {error.filename} cannot be read ({reason})") from error
        return digests

    def _setting(self, value: object) -> str:
        text = as_json(encode(value, f"depends of {self._name}"))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]


def calling_file() -> Path | None:
    """Return the file of the code that called this package; None if it has no file."""
    frame = sys._getframe(1)
    while frame.f_back is not None and Path(frame.f_code.co_filename).is_relative_to(PACKAGE):
        frame = frame.f_back
    path = Path(frame.f_code.co_filename)
    return path if path.is_file() else None


def _files_of(function: Callable[..., Any]) -> Iterator[Path]:
    """Yield the files of a function, of the functions that it wraps, and of the class of an object or method."""
    wrapped: Any = function
    while wrapped is not None:
        while isinstance(wrapped, functools.partial):
            wrapped = wrapped.func
        owner = getattr(wrapped, "__self__", None)
        if owner is not None and not isinstance(owner, ModuleType):
            yield from _file_of_class(owner if isinstance(owner, type) else type(owner))
        code = getattr(wrapped, "__code__", None)
        if code is not None:
            yield Path(code.co_filename)
        else:
            yield from _file_of_class(wrapped if isinstance(wrapped, type) else type(wrapped))
        wrapped = getattr(wrapped, "__wrapped__", None)


def _file_of_class(kind: type) -> Iterator[Path]:
    """Yield the files of a class and its bases; of their methods too: two conftests may share a module name."""
    for each in kind.__mro__:
        codes = (getattr(value, "__code__", None) for value in vars(each).values())
        file_names = {
            getattr(sys.modules.get(each.__module__), "__file__", None),
            *(getattr(c, "co_filename", None) for c in codes),
        }
        yield from (Path(name) for name in file_names if name)


def _code_digests(files: Iterable[Path], root: Path) -> dict[str, str]:
    """Return the digests of Python files and their imports, limited to the user's own code below ``root``."""
    digests: dict[str, str] = {}
    stack = list(files)
    while stack:
        path = stack.pop()
        name = _code_name(path, root)
        if name is None or name in digests:
            continue
        digests[name] = read_source(path).digest
        stat = path.stat()
        stack += _own_imports(path, root, stat.st_mtime_ns, stat.st_size)
    return digests


@lru_cache(maxsize=10_000)
def _own_imports(path: Path, root: Path, modified: int, size: int) -> tuple[Path, ...]:
    """Return the user's files that a file imports; cached because the search is slow."""
    files = [
        *_packages_of(path),
        *(file for each in read_source(path).imports for file in _files_of_import(each, path, root)),
    ]
    return tuple(file for file in dict.fromkeys(files) if _code_name(file, root) is not None)


def _code_name(path: Path, root: Path) -> str | None:
    """Return the path, relative to ``root``, of a Python file of the user; None for any other file."""
    name = _relative(path, root) if path.suffix == ".py" and not path.is_relative_to(PACKAGE) else None
    if name is None or not INSTALLED.isdisjoint(name.split("/")) or not path.is_file():
        return None
    environment = Path(sys.prefix)
    is_environment = environment != root and environment.is_relative_to(root)
    return None if is_environment and path.is_relative_to(environment) else name


def _relative(path: Path, root: Path) -> str | None:
    """Return a path relative to ``root``, as written or with links resolved; None if it is outside."""
    for each, above in (
        (Path(os.path.abspath(path)), root),
        (Path(os.path.realpath(path)), Path(os.path.realpath(root))),
    ):
        if each.is_relative_to(above):
            return each.relative_to(above).as_posix()
    return None


def _is_data(path: Path, folder: Path) -> bool:
    parts = path.relative_to(folder).parts
    return path.is_file() and not any(part.startswith(".") or part == "__pycache__" for part in parts)


def _packages_of(path: Path) -> Iterator[Path]:
    """Yield the ``__init__.py`` of each package that contains a file."""
    for folder in path.parents:
        if not (folder / "__init__.py").is_file():
            return
        yield folder / "__init__.py"


def _files_of_import(statement: Import, path: Path, root: Path) -> Iterator[Path]:
    """Yield the files that an import in ``path`` would run."""
    parts = statement.module.split(".") if statement.module else []
    if statement.level:
        start: tuple[str | None, Sequence[str]] = (
            None,
            [str(folder) for folder in path.parents[statement.level - 1 :][:1]],
        )
    else:
        top = _top_module(parts.pop(0)) if parts else None
        start = top or (None, [str(path.parent), str(root)])
        parts = parts if top else statement.module.split(".")
    file, folders = start
    if file is not None:
        if _code_name(Path(file), root) is None:
            return
        yield Path(file)
    for name in statement.names or ("",):
        yield from _files_below(folders, [*parts, *([name] if name else [])])


def _files_below(folders: Sequence[str], parts: Iterable[str]) -> Iterator[Path]:
    """Yield the files that ``import part.part`` would run; search in ``folders``, and stop at a plain module."""
    for part in parts:
        bases = [os.path.join(folder, part) for folder in folders]
        package = next((base for base in bases if os.path.isfile(os.path.join(base, "__init__.py"))), None)
        module = next((base for base in bases if os.path.isfile(f"{base}.py")), None)
        if package is not None:
            yield Path(package, "__init__.py")
        elif module is not None:
            yield Path(f"{module}.py")
            return
        folders = bases if package is None else [package]  # a package without __init__.py may be in several folders


def _top_module(name: str) -> tuple[str | None, Sequence[str]] | None:
    """Return a module's file and the folders of its submodules; None if it is missing."""
    module = sys.modules.get(name)
    if module is not None:
        return getattr(module, "__file__", None), [str(folder) for folder in getattr(module, "__path__", ())]
    if name in sys.stdlib_module_names:
        return None, ()
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, AttributeError, ValueError):
        spec = None
    return None if spec is None else (spec.origin, list(spec.submodule_search_locations or ()))
