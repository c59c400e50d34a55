"""Folders of the package's own in a user's project."""

from __future__ import annotations

from pathlib import Path

__all__ = ["make_ignored"]


def make_ignored(folder: Path) -> Path:
    """Return a folder, made where there is none, that ignores itself in git.

    Raises:
        OSError: it cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text("# Created by pytest-rageval.\n*\n", encoding="utf-8")
    return folder
