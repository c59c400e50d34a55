"""Folders and files that the package writes in a user's project."""

from __future__ import annotations

import errno
import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["make_ignored", "regular", "whole_files"]


def make_ignored(folder: Path) -> Path:
    """Return a folder, made where there is none, that ignores itself in git.

    Raises:
        OSError: it cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        with whole_files(ignore) as (part,):
            part.write_text("# Created by pytest-rageval.\n*\n", encoding="utf-8")
    return folder


def regular(path: Path) -> Path:
    """Return a path that can be read to its end: of a regular file or a folder.

    Raises:
        OSError: it is a named pipe, a device or a socket, which could be read for ever; or there is nothing.
    """
    mode = path.stat().st_mode
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return path
    kind = "named pipe" if stat.S_ISFIFO(mode) else "socket" if stat.S_ISSOCK(mode) else "device"
    raise OSError(errno.EINVAL, f"it is a {kind}; name a regular file", str(path))


@contextmanager
def whole_files(*paths: Path, overwrite: bool = True) -> Iterator[list[Path]]:
    """Yield a path beside each of ``paths`` to write to; at the end they are moved there, and where it fails removed.

    So no reader sees half a file. Without ``overwrite`` there are all of the files then, or none. A device or a pipe is
    written to as it is. A symbolic link stays a link, and the file that it leads to is replaced.

    Raises:
        FileExistsError: one of them is there, and not to be overwritten; its ``filename`` says which.
        OSError: one of them cannot be written.
    """
    targets = [Path(os.path.realpath(path)) if path.is_symlink() else path for path in paths]
    parts = [path if _is_no_file(path) else _beside(path) for path in targets]
    claimed: list[Path] = []
    try:
        for path in () if overwrite else paths:
            path.touch(exist_ok=False)
            claimed.append(path)
        yield parts
        for part, path in zip(parts, targets, strict=True):
            if part != path:
                part.replace(path)
        claimed.clear()
    finally:
        for path in (*(part for part in parts if part not in targets), *claimed):
            path.unlink(missing_ok=True)


def _is_no_file(path: Path) -> bool:
    """Return whether a path is a device or a pipe, as /dev/null, which a file must not take the place of."""
    return path.exists() and not (path.is_file() or path.is_dir())


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
