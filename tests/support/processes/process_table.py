"""Processes that this one has started, and its memory, as Linux lists them."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["adopting_orphans", "descendants", "is_listed", "peak_memory", "reset_peak_memory", "wait_until_ended"]

PROC = Path("/proc")
SET_CHILD_SUBREAPER = 36


def is_listed() -> bool:
    """Return whether this system lists processes in a folder."""
    return (PROC / "self" / "stat").is_file()


@contextmanager
def adopting_orphans() -> Iterator[None]:
    """Inside the block, make a process whose parent ends a child of this one, so `descendants` finds it."""
    if not is_listed():
        yield
        return
    libc = ctypes.CDLL(None)
    libc.prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        libc.prctl(SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def descendants() -> dict[int, str]:
    """Return the ids and names of all living processes below this one; none if the system does not list them."""
    parents: dict[int, int] = {}
    names: dict[int, str] = {}
    for folder in PROC.glob("[0-9]*"):
        try:
            head, _, tail = (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")
        except OSError:
            continue  # it has just ended
        state, parent = tail.split()[:2]
        if state not in "ZX":
            parents[int(folder.name)], names[int(folder.name)] = int(parent), head.partition("(")[2]
    below: set[int] = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in below} - below:
        below |= more
    return {pid: names[pid] for pid in below - {os.getpid()}}


def wait_until_ended(pids: set[int], seconds: float = 2.0) -> set[int]:
    """Return the processes that still live after these seconds."""
    end = time.monotonic() + seconds
    while (living := pids & descendants().keys()) and time.monotonic() < end:
        time.sleep(0.02)
    return set(living)


def reset_peak_memory() -> None:
    """Forget the highest memory of this process so far."""
    (PROC / "self" / "clear_refs").write_text("5")


def peak_memory() -> int:
    """Return the highest resident memory of this process since it was reset, in bytes."""
    lines = (PROC / "self" / "status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) << 10
