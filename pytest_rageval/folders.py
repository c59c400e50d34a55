"""Write files atomically, create ignored folders, and refuse devices as input files."""

from __future__ import annotations

import errno
import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["atomic_files", "make_ignored", "regular_path"]


def make_ignored(folder: Path) -> Path:
    """Create a folder if it is missing, add a .gitignore that ignores its content, and return the folder.

    Raises:
        OSError: the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        with atomic_files(ignore) as (part,):
            part.write_text("# Created by pytest-rageval.\n*\n", encoding="utf-8")
    return folder


def regular_path(path: Path) -> Path:
    """Return the path if it is a regular file or a folder.

    Raises:
        OSError: the path is missing, or is a named pipe, a device or a socket: reading one may never end.
    """
    mode = path.stat().st_mode
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return path
    kind = "named pipe" if stat.S_ISFIFO(mode) else "socket" if stat.S_ISSOCK(mode) else "device"
    raise OSError(errno.EINVAL, f"it is a {kind}; name a regular file", str(path))


@contextmanager
def atomic_files(*paths: Path, overwrite: bool = True) -> Iterator[list[Path]]:
    """Yield a temporary path for each of ``paths``; move them into place at the end, or remove them on an error.

    Other processes never see a half-written file, even if this process is killed. Without ``overwrite``, all of the
    files are created or none. A device or a pipe is written directly. For a symbolic link, its target is replaced.

    Raises:
        FileExistsError: a file exists and ``overwrite`` is False; ``filename`` names it.
        OSError: a file cannot be written.
    """
    targets = [Path(os.path.realpath(path)) if path.is_symlink() else path for path in paths]
    parts = [path if _is_device(path) else _temporary_path(path) for path in targets]
    created: list[Path] = []
    try:
        for path in () if overwrite else paths:
            if os.path.lexists(path):
                raise _exists_error(path)
        yield parts
        for part, path in zip(parts, targets, strict=True):
            if not overwrite:
                _create(part, path, created)
            elif part != path:
                part.replace(path)
        created.clear()
    finally:
        for path in (*(part for part in parts if part not in targets), *created):
            path.unlink(missing_ok=True)


def _create(part: Path, path: Path, created: list[Path]) -> None:
    """Move the file ``part`` to ``path``, where no file may exist, and add ``path`` to ``created``."""
    try:
        os.link(part, path)
    except FileExistsError:
        raise _exists_error(path) from None
    except OSError:  # a file system without hard links: a kill may leave an empty file
        path.touch(exist_ok=False)
        created.append(path)
        part.replace(path)
    else:
        created.append(path)


def _exists_error(path: Path) -> FileExistsError:
    return FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))


def _is_device(path: Path) -> bool:
    """Return whether a path is a device or a pipe, such as /dev/null; a file must not replace it."""
    return path.exists() and not (path.is_file() or path.is_dir())


def _temporary_path(path: Path) -> Path:
    """Return a hidden path in the same folder that no other process or thread uses."""
    return path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
