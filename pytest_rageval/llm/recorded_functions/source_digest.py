"""Digest a Python file's syntax tree, and list its imports."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

__all__ = ["DIGITS", "Import", "Source", "content_digest", "read_source"]

DIGITS = 12
"""Hexadecimal digits of a digest."""

CHUNK = 1 << 20
"""Bytes to read at a time."""

_SKIPPED_FIELDS = frozenset({"ctx", "kind", "type_comment", "type_ignores"})
"""Fields of syntax trees that do not change the behaviour."""

_IGNORE_DOCSTRINGS = frozenset({
    "abstractmethod", "asynccontextmanager", "cache", "cached_property", "classmethod", "contextmanager", "fixture",
    "lru_cache", "override", "property", "recorded", "staticmethod", "wraps",
})  # fmt: skip
"""Decorators that do not use the docstring. Others may send it to a model, for example to describe a tool."""

_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class Import(NamedTuple):
    """One import.

    Attributes:
        level: the number of leading dots.
        module: the dotted name after them; may be "".
        names: the imported names; each may be a module.
    """

    level: int
    module: str
    names: tuple[str, ...] = ()


class Source(NamedTuple):
    """The digest and the imports of a Python file."""

    digest: str
    imports: tuple[Import, ...]


def read_source(path: Path) -> Source:
    """Return the digest and the imports of a Python file.

    Comments, formatting and most docstrings do not change the digest. A docstring that code may use changes it: of a
    subclass, of a function with an unknown decorator, and in a file that mentions ``__doc__``. The digest is the same
    on every Python version. If the file cannot be parsed, the digest is that of its content.
    """
    stat = path.stat()
    return _source(path, stat.st_mtime_ns, stat.st_size)


def content_digest(path: Path) -> str:
    """Return the digest of a file's content; Windows line ends are read as Unix line ends."""
    stat = path.stat()
    return _content(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=10_000)
def _source(path: Path, modified: int, size: int) -> Source:
    data = path.read_bytes()
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Source(_content(path, modified, size), ())
    text = _text_of(tree, keep_docstrings=b"__doc__" in data or b"getdoc" in data)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]
    return Source(digest, tuple(dict.fromkeys(_imports(tree))))


@lru_cache(maxsize=10_000)
def _content(path: Path, modified: int, size: int) -> str:
    digest, carriage_return = hashlib.sha256(), b""
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            chunk = carriage_return + chunk
            carriage_return = b"\r" if chunk.endswith(b"\r") else b""  # the line feed may be in the next chunk
            digest.update(chunk[: len(chunk) - len(carriage_return)].replace(b"\r\n", b"\n"))
    digest.update(carriage_return)
    return digest.hexdigest()[:DIGITS]


def _text_of(tree: ast.Module, *, keep_docstrings: bool) -> str:
    """Return a syntax tree as text, without missing and empty fields, because Python versions differ in them."""
    pieces: list[str] = []
    stack: list[object] = [tree]  # a stack instead of recursion: a tree may exceed the recursion limit
    while stack:
        node = stack.pop()
        if isinstance(node, _Text):
            pieces.append(node)
        elif isinstance(node, ast.AST):
            pieces.append(f"{type(node).__name__}(")
            stack.append(_END)
            for name in reversed(node._fields):
                value = _field(node, name, keep_docstrings=keep_docstrings)
                if value is not None and value != []:
                    stack += (value, _Text(f" {name}="))
        elif isinstance(node, list):
            pieces.append("[")
            stack += (_LIST_END, *reversed(node))
        else:
            pieces.append(f"{type(node).__name__}:{_literal(node)},")
    return "".join(pieces)


def _field(node: ast.AST, name: str, *, keep_docstrings: bool) -> object:
    """Return a field without docstrings, and without the empty texts in f-strings that only Python 3.12 has."""
    if name in _SKIPPED_FIELDS:
        return None
    if name == "body" and isinstance(node, _Documented) and not (keep_docstrings or _may_be_used(node)):
        return _without_docstring(node)
    if isinstance(node, ast.JoinedStr):
        return [part for part in node.values if not (isinstance(part, ast.Constant) and part.value == "")]
    return getattr(node, name, None)


class _Text(str):
    """Punctuation of the result; a separate type distinguishes it from strings in the code."""

    __slots__ = ()


_END, _LIST_END = _Text(")"), _Text("]")


def _literal(value: object) -> str:
    return hex(value) if isinstance(value, int) else repr(value)  # Python refuses to write very long integers


def _without_docstring(node: _Documented) -> list[ast.stmt]:
    first = node.body[0] if node.body else None
    is_text = (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    )
    return node.body[1:] if is_text else node.body


def _may_be_used(node: _Documented) -> bool:
    """Return whether code may use the docstring of a node: it is a subclass (as in DSPy) or has other decorators."""
    if isinstance(node, ast.ClassDef):
        return bool(node.bases)
    return not isinstance(node, ast.Module) and any(_name(d) not in _IGNORE_DOCSTRINGS for d in node.decorator_list)


def _name(decorator: ast.expr) -> str:
    name_node = decorator.func if isinstance(decorator, ast.Call) else decorator
    return name_node.attr if isinstance(name_node, ast.Attribute) else getattr(name_node, "id", "")


def _imports(tree: ast.Module) -> Iterator[Import]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (Import(0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield Import(node.level, node.module or "", tuple(alias.name for alias in node.names))
        elif isinstance(node, ast.Call) and _name(node) == "import_module" and node.args:
            module = node.args[0]
            if isinstance(module, ast.Constant) and isinstance(module.value, str) and not module.value.startswith("."):
                yield Import(0, module.value)
