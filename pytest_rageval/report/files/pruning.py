"""Remove old runs from ``.rageval/runs``, but never active ones."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pytest_rageval.report.files.run_folder import run_age

if TYPE_CHECKING:
    from filelock import FileLock

__all__ = ["FolderLock", "KeepLimits", "is_active", "parse_keep_limits", "prune", "size_of"]

LOCK = ".going"
"""Lock file of an active run; a killed run leaves it behind, unlocked."""

REMOVED = "removed-"
"""Prefix of the folder to which a run is moved before its files are removed."""

_NAME = re.compile(r"\d{8}T\d{6}(-\d+)?")
_KEEP = re.compile(r"(all|0*[1-9]\d*)(?:\s*,\s*(\d+(?:\.\d+)?)\s*([KMGT])B)?", re.IGNORECASE)


class KeepLimits(NamedTuple):
    """Maximum number of runs to keep, and of their total bytes; None means no limit."""

    runs: int | None
    size: int | None = None


def parse_keep_limits(text: str) -> KeepLimits | None:
    """Parse ``rag_keep_runs``, such as ``50``, ``all`` or ``50, 2 GB``; None if it is malformed."""
    match = _KEEP.fullmatch(text.strip())
    if match is None:
        return None
    runs, size, unit = match.groups()
    max_bytes = None if size is None else int(float(size) * 1000 ** (1 + "KMGT".index(unit.upper())))
    return KeepLimits(None if runs.lower() == "all" else int(runs), max_bytes)


class FolderLock:
    """Locks a run's folder against pruning until it is released or this process ends."""

    def __init__(self, folder: Path) -> None:
        from filelock import FileLock

        self._lock: FileLock = FileLock(folder / LOCK)
        with suppress(OSError, NotImplementedError):  # a disk without locks
            self._lock.acquire(timeout=0)

    def end(self) -> None:
        """Release the folder."""
        self._lock.release()
        with suppress(OSError):
            Path(self._lock.lock_file).unlink(missing_ok=True)


def prune(runs: Path, keep: KeepLimits, spared: Collection[str] = ()) -> list[str]:
    """Remove all but the newest runs, and return the names of the removed ones, oldest first.

    The newest run stays, whatever its size. Active runs stay too. A killed run can be removed like any other, even if
    it could be resumed.

    Args:
        runs: the folder of all runs; entries without the name of a run are ignored.
        keep: the limits; at least 1 run.
        spared: names of runs that are never removed.
    """
    for leftover in runs.parent.glob(f"{REMOVED}*"):  # a process was killed while it pruned
        shutil.rmtree(leftover, ignore_errors=True)
    folders = sorted((path for path in runs.iterdir() if path.is_dir() and _NAME.fullmatch(path.name)), key=run_age)
    removed = []
    for folder in folders[: _first_to_keep(folders, keep)]:
        if folder.name not in spared and not is_active(folder):
            aside = runs.parent / f"{REMOVED}{folder.name}"
            with suppress(OSError):  # another process was faster, or a file in it is open
                os.replace(folder, aside)  # so that nobody reads a half-removed run
                removed.append(folder.name)
                shutil.rmtree(aside, ignore_errors=True)
    return removed


def _first_to_keep(folders: Sequence[Path], keep: KeepLimits) -> int:
    """Return the index of the oldest run to keep; ``folders`` go from the oldest to the newest."""
    first = 0 if keep.runs is None else max(len(folders) - keep.runs, 0)
    if keep.size is None:
        return first
    size = 0
    for at in range(len(folders) - 1, first - 1, -1):
        size += size_of(folders[at])
        if size > keep.size:
            return min(at + 1, len(folders) - 1)
    return first


def size_of(folder: Path) -> int:
    """Return the bytes of all files below a folder."""
    size = 0
    for path in folder.rglob("*"):
        with suppress(OSError):  # another process removed it
            size += path.lstat().st_size
    return size


def is_active(folder: Path) -> bool:
    """Return whether a process holds the run's lock; the check never creates a lock file."""
    from filelock import FileLock, Timeout

    if not (folder / LOCK).exists():
        return False
    try:
        with FileLock(folder / LOCK, timeout=0):
            return False
    except Timeout:
        return True
    except (OSError, NotImplementedError):
        return False
