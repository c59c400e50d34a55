"""Old runs: which are still going on, and which are removed so that ``.rageval/runs`` does not grow for ever."""

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

__all__ = ["Going", "Keep", "goes_on", "keep_of", "prune"]

LOCK = ".going"
"""Held while a run goes on; a killed one leaves it behind, free."""

REMOVED = "removed-"

_NAME = re.compile(r"\d{8}T\d{6}(-\d+)?")


_KEEP = re.compile(r"(all|0*[1-9]\d*)(?:\s*,\s*(\d+(?:\.\d+)?)\s*([KMGT])B)?", re.IGNORECASE)


class Keep(NamedTuple):
    """How many runs are kept, and how many bytes they may have together; None is any number."""

    runs: int | None
    size: int | None = None


def keep_of(text: str) -> Keep | None:
    """Return what ``rag_keep_runs`` says, such as ``50``, ``all`` or ``50, 2 GB``; None if it cannot be read."""
    match = _KEEP.fullmatch(text.strip())
    if match is None:
        return None
    runs, size, unit = match.groups()
    most = None if size is None else int(float(size) * 1000 ** (1 + "KMGT".index(unit.upper())))
    return Keep(None if runs.lower() == "all" else int(runs), most)


class Going:
    """Keeps a run's folder from being pruned, until it is let go or this process ends."""

    def __init__(self, folder: Path) -> None:
        from filelock import FileLock

        self._lock: FileLock = FileLock(folder / LOCK)
        with suppress(OSError, NotImplementedError):  # a disk without locks
            self._lock.acquire(timeout=0)

    def end(self) -> None:
        """Let the folder go."""
        self._lock.release()
        with suppress(OSError):
            Path(self._lock.lock_file).unlink(missing_ok=True)


def prune(runs: Path, keep: Keep, spared: Collection[str] = ()) -> list[str]:
    """Remove all but the newest runs, and return the names of those that were removed, oldest first.

    The newest run stays, however large it is.

    One that was killed, and may be resumed, counts as any other. One that goes on in another process stays.

    Args:
        runs: the folder of all runs; what has not the name of a run is left alone.
        keep: how many stay, at least 1, and how large they may be together.
        spared: names of runs that stay in any case.
    """
    for left in runs.parent.glob(f"{REMOVED}*"):  # by a process that was killed meanwhile
        shutil.rmtree(left, ignore_errors=True)
    folders = sorted((path for path in runs.iterdir() if path.is_dir() and _NAME.fullmatch(path.name)), key=run_age)
    removed = []
    for folder in folders[: _first_kept(folders, keep)]:
        if folder.name not in spared and not goes_on(folder):
            aside = runs.parent / f"{REMOVED}{folder.name}"
            with suppress(OSError):  # another process was quicker, or a file in it is open
                os.replace(folder, aside)  # so that none that is half removed is ever read
                removed.append(folder.name)
                shutil.rmtree(aside, ignore_errors=True)
    return removed


def _first_kept(folders: Sequence[Path], keep: Keep) -> int:
    """Return the place of the oldest run that stays, of runs from the oldest to the newest."""
    first = 0 if keep.runs is None else max(len(folders) - keep.runs, 0)
    if keep.size is None:
        return first
    size = 0
    for at in range(len(folders) - 1, first - 1, -1):
        size += _size(folders[at])
        if size > keep.size:
            return min(at + 1, len(folders) - 1)
    return first


def _size(folder: Path) -> int:
    size = 0
    for path in folder.rglob("*"):
        with suppress(OSError):  # another process removed it
            size += path.lstat().st_size
    return size


def goes_on(folder: Path) -> bool:
    """Return whether a process holds the run; looking makes no lock where there is none."""
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
