"""Calls that an interrupted run paid for but no test reported; a resumed run reuses them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_rageval.model.calls import Calls

__all__ = ["SYSTEM", "EarlierCalls", "PaidCall"]

SYSTEM = "system"
"""The kind of calls to a system under test."""


@dataclass(frozen=True, slots=True)
class PaidCall:
    """The result of a call of an earlier run.

    Attributes:
        value: the answer or the reply, as plain JSON values.
        calls: its usage; empty if a reported case already counts it.
        recordings: keys of the recordings that it used.
    """

    value: Mapping[str, Any]
    calls: Calls
    recordings: tuple[str, ...] = ()


class EarlierCalls:
    """Calls of an earlier run. Each is returned only once: a case that asks again needs a new answer.

    Args:
        rows: calls as `pytest_rageval.report.files.journals` returns them.
    """

    def __init__(self, rows: Iterable[Mapping[str, Any]] = ()) -> None:
        self._calls: dict[tuple[str, str, str], list[PaidCall]] = {}
        self.add(rows)

    def add(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add more calls, for example those of a dead worker."""
        for row in rows:
            call = PaidCall(row["value"], Calls(**row["calls"]), tuple(row.get("recordings", ())))
            calls = self._calls.setdefault(_address(row["nodeid"], row["kind"], row["key"]), [])
            if row["kind"] == SYSTEM:  # a rerun test uses its last answer
                calls.clear()
            calls.append(call)

    def take(self, nodeid: str, kind: str, key: str) -> PaidCall | None:
        """Return and remove the result of a call; None if there is none."""
        matches = self._calls.get(_address(nodeid, kind, key))
        return matches.pop(0) if matches else None


def _address(nodeid: str, kind: str, key: str) -> tuple[str, str, str]:
    """Return the index key of a call; without a node id if several cases share it: an answer with a key."""
    return ("" if key and kind == SYSTEM else nodeid, kind, key)
