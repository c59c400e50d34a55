"""Tests and paid answers of dead workers, which no other worker may repeat."""

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
"""Key in a worker's input: whether it only runs suspects, one at a time."""

_SUSPECTS: pytest.StashKey[Suspects | None] = pytest.StashKey()


class Suspects:
    """The tests that dead workers were running (suspects) and the answers that they paid for.

    They are in a file that all processes of a session read.

    Args:
        folder: the shared folder.
        earlier: receives the answers of dead workers that no test reported.
        alone: whether this process runs the suspects.
    """

    def __init__(self, folder: Path, earlier: EarlierCalls | None = None, *, alone: bool = False) -> None:
        self._path = folder / "suspects.jsonl"
        self._earlier = earlier
        self._alone = alone
        self._offset = 0
        self._known: set[str] = set()

    def add(self, nodeids: Iterable[str], paid: Iterable[Mapping[str, Any]]) -> None:
        """Exclude these tests from all other workers, and share the answers that a dead worker paid for."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lines = [json.dumps({"suspect": nodeid}) for nodeid in nodeids]
        lines += [json.dumps({"paid": row}) for row in paid]
        with self._path.open("a", encoding="utf-8") as stream:
            stream.write("".join(f"{line}\n" for line in lines))

    def __contains__(self, nodeid: str) -> bool:
        """Return whether this process must not run a test, according to the current content of the file."""
        with suppress(OSError):  # the file is missing before the first crash
            if self._path.stat().st_size > self._offset:
                self._read()
        return nodeid in self._known and not self._alone

    def _read(self) -> None:
        with self._path.open("rb") as stream:
            stream.seek(self._offset)
            content = stream.read()
        whole_lines = content[: content.rfind(b"\n") + 1]
        self._offset += len(whole_lines)
        for line in map(json.loads, whole_lines.splitlines()):
            if "suspect" in line:
                self._known.add(line["suspect"])
            elif self._earlier is not None:
                self._earlier.add([line["paid"]])


def runs_alone(config: pytest.Config) -> bool:
    """Return whether this process only runs suspects, one at a time."""
    return bool(getattr(config, "workerinput", {}).get(ALONE, False))


def suspects_of(config: pytest.Config) -> Suspects | None:
    """Return the suspects of the session; None without a shared folder."""
    if _SUSPECTS not in config.stash:
        folder, earlier = shared_folder(config), config.stash[COLLECTED].earlier
        config.stash[_SUSPECTS] = None if folder is None else Suspects(folder, earlier, alone=runs_alone(config))
    return config.stash[_SUSPECTS]
