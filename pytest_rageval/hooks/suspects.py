"""Which tests a dead worker had in flight: no other worker runs them, as they run alone later."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from pytest_rageval.hooks.shared import shared_folder
from pytest_rageval.report.journals import journal_path, read_journal

__all__ = ["Suspects", "Trail", "in_flight", "runs_alone", "suspects_of", "trail_of"]

ALONE = "rag_alone"
"""In the input of a worker: whether it is there to run suspects, with nothing else in flight."""

_TRAIL: pytest.StashKey[Trail | None] = pytest.StashKey()
_SUSPECTS: pytest.StashKey[Suspects | None] = pytest.StashKey()


class Trail:
    """A worker's own file of the tests that it runs, a line before each, which outlives a crash."""

    def __init__(self, folder: Path, worker: str) -> None:
        self._file = -1
        with suppress(OSError):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = os.open(_trail(folder, worker), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def runs(self, nodeid: str) -> None:
        """Note the test that the worker runs now; if the disk is full, only that is lost."""
        if self._file >= 0:
            with suppress(OSError):
                os.write(self._file, f"{json.dumps(nodeid)}\n".encode())


def in_flight(folder: Path, run: Path | None, worker: str) -> tuple[str, list[str]]:
    """Return the test that a worker that has died was running, or "", and the cases that it was asking.

    Args:
        folder: the folder that the session's processes share.
        run: the run's folder, with their journals; None if there is none.
        worker: xdist's name of the worker.
    """
    ran = list(_lines(_trail(folder, worker)))
    calls = [] if run is None else read_journal(journal_path(run, worker))
    return ran[-1] if ran else "", list(
        dict.fromkeys(call.nodeid for call in calls if call.state in ("waiting", "running"))
    )


class Suspects:
    """The tests that dead workers had in flight, for the processes of a session.

    Args:
        folder: the folder that they share.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / "suspects.jsonl"
        self._size = 0
        self._known: set[str] = set()

    def add(self, nodeids: Iterable[str]) -> None:
        """Have no worker run these tests."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as stream:
            stream.write("".join(f"{json.dumps(nodeid)}\n" for nodeid in nodeids))

    def __contains__(self, nodeid: str) -> bool:
        try:
            size = self._path.stat().st_size
        except OSError:
            return False
        if size != self._size:
            self._size = size
            self._known.update(_lines(self._path))
        return nodeid in self._known


def trail_of(config: pytest.Config) -> Trail | None:
    """Return the trail of this process; None if it is no worker, or if nobody could read it."""
    if _TRAIL not in config.stash:
        folder = shared_folder(config)
        worker = getattr(config, "workerinput", {}).get("workerid", "")
        config.stash[_TRAIL] = None if folder is None else Trail(folder, worker)
    return config.stash[_TRAIL]


def runs_alone(config: pytest.Config) -> bool:
    """Return whether this process is there to run suspects, with nothing else in flight."""
    return bool(getattr(config, "workerinput", {}).get(ALONE, False))


def suspects_of(config: pytest.Config) -> Suspects | None:
    """Return the tests that this process must not run; None if it may run them all."""
    if _SUSPECTS not in config.stash:
        folder = shared_folder(config)
        config.stash[_SUSPECTS] = None if folder is None or runs_alone(config) else Suspects(folder)
    return config.stash[_SUSPECTS]


def _trail(folder: Path, worker: str) -> Path:
    return folder / f"trail-{worker}.jsonl"


def _lines(path: Path) -> Iterator[str]:
    """Yield what the whole lines of a file say; a crash may cut the last one short."""
    with suppress(OSError):
        for line in path.read_bytes().split(b"\n")[:-1]:
            yield str(json.loads(line))
