"""Old runs: which are still going on, and which are removed so that ``.rageval/runs`` does not grow for ever."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rageval.report.folder import run_age

if TYPE_CHECKING:
    from filelock import FileLock

__all__ = ["Going", "goes_on", "prune"]

LOCK = ".going"
"""Held while a run goes on; a killed one leaves it behind, free."""

REMOVED = "removed-"

_NAME = re.compile(r"\d{8}T\d{6}(-\d+)?")


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


def prune(runs: Path, keep: int, spared: Collection[str] = ()) -> list[str]:
    """Remove all but the newest runs, and return the names of those that were removed, oldest first.

    One that was killed, and may be resumed, counts as any other. One that goes on in another process stays.

    Args:
        runs: the folder of all runs; what has not the name of a run is left alone.
        keep: how many stay, at least 1.
        spared: names of runs that stay in any case.
    """
    for left in runs.parent.glob(f"{REMOVED}*"):  # by a process that was killed meanwhile
        shutil.rmtree(left, ignore_errors=True)
    folders = sorted((path for path in runs.iterdir() if path.is_dir() and _NAME.fullmatch(path.name)), key=run_age)
    removed = []
    for folder in folders[:-keep]:
        if folder.name not in spared and not goes_on(folder):
            aside = runs.parent / f"{REMOVED}{folder.name}"
            with suppress(OSError):  # another process was quicker, or a file in it is open
                os.replace(folder, aside)  # so that none that is half removed is ever read
                removed.append(folder.name)
                shutil.rmtree(aside, ignore_errors=True)
    return removed


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
