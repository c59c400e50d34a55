"""What a dead worker had in flight and had been answered: no other worker runs the one, or pays for the other again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_rageval.hooks.collect.keys import COLLECTED
from pytest_rageval.hooks.config.shared_folder import shared_folder

if TYPE_CHECKING:
    from pytest_rageval.llm.client.earlier_calls import EarlierCalls

__all__ = ["Suspects", "runs_alone", "suspects_of"]

ALONE = "rag_alone"
"""In the input of a worker: whether it is there to run suspects, with nothing else in flight."""

_SUSPECTS: pytest.StashKey[Suspects | None] = pytest.StashKey()


class Suspects:
    """What the processes of a session have to know of workers that have died: a file that all of them read.

    Args:
        folder: the folder that they share.
        earlier: takes the answers that dead workers had and no test reported.
        alone: whether this process is there to run these tests.
    """

    def __init__(self, folder: Path, earlier: EarlierCalls | None = None, *, alone: bool = False) -> None:
        self._path = folder / "suspects.jsonl"
        self._earlier = earlier
        self._alone = alone
        self._at = 0
        self._known: set[str] = set()

    def add(self, nodeids: Iterable[str], paid: Iterable[Mapping[str, Any]]) -> None:
        """Have no worker run these tests, and none pay again for what a dead one has paid."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lines = [json.dumps({"suspect": nodeid}) for nodeid in nodeids]
        lines += [json.dumps({"paid": row}) for row in paid]
        with self._path.open("a", encoding="utf-8") as stream:
            stream.write("".join(f"{line}\n" for line in lines))

    def __contains__(self, nodeid: str) -> bool:
        """Return whether no worker may run a test, by what the file says now."""
        with suppress(OSError):  # there is none before the first crash
            if self._path.stat().st_size > self._at:
                self._read()
        return nodeid in self._known and not self._alone

    def _read(self) -> None:
        with self._path.open("rb") as stream:
            stream.seek(self._at)
            new = stream.read()
        whole = new[: new.rfind(b"\n") + 1]
        self._at += len(whole)
        for line in map(json.loads, whole.splitlines()):
            if "suspect" in line:
                self._known.add(line["suspect"])
            elif self._earlier is not None:
                self._earlier.add([line["paid"]])


def runs_alone(config: pytest.Config) -> bool:
    """Return whether this process is there to run suspects, with nothing else in flight."""
    return bool(getattr(config, "workerinput", {}).get(ALONE, False))


def suspects_of(config: pytest.Config) -> Suspects | None:
    """Return the tests that this process must not run; None if it may run them all."""
    if _SUSPECTS not in config.stash:
        folder, earlier = shared_folder(config), config.stash[COLLECTED].earlier
        config.stash[_SUSPECTS] = None if folder is None else Suspects(folder, earlier, alone=runs_alone(config))
    return config.stash[_SUSPECTS]
