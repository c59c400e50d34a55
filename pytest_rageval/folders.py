"""Folders and files that the package writes in a user's project."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["make_ignored", "whole_files"]


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


@contextmanager
def whole_files(*paths: Path, overwrite: bool = True) -> Iterator[list[Path]]:
    """Yield a path beside each of ``paths`` to write to; at the end they are moved there, and where it fails removed.

    So no reader sees half a file. Without ``overwrite`` there are all of the files then, or none.

    Raises:
        FileExistsError: one of them is there, and not to be overwritten; its ``filename`` says which.
        OSError: one of them cannot be written.
    """
    parts = [path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}") for path in paths]
    claimed: list[Path] = []
    try:
        for path in () if overwrite else paths:
            path.touch(exist_ok=False)
            claimed.append(path)
        yield parts
        for part, path in zip(parts, paths, strict=True):
            part.replace(path)
        claimed.clear()
    finally:
        for path in (*parts, *claimed):
            path.unlink(missing_ok=True)
