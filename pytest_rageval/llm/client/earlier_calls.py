"""What an interrupted run paid for and no test reported: a resumed run takes it over."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_rageval.model.calls import Calls

__all__ = ["SYSTEM", "EarlierCalls", "PaidCall"]

SYSTEM = "system"
"""The kind of a call of a system under test."""


@dataclass(frozen=True, slots=True)
class PaidCall:
    """What a call of an earlier run returned.

    Attributes:
        value: the answer or the reply, as builtins.
        calls: what it took; nothing if a reported case counts it already.
        recordings: keys of the recordings that it used.
    """

    value: Mapping[str, Any]
    calls: Calls
    recordings: tuple[str, ...] = ()


class EarlierCalls:
    """Calls of an earlier run, each handed out once: the case that asks again wants a new answer.

    Args:
        rows: calls as `pytest_rageval.report.files.journals` returns them.
    """

    def __init__(self, rows: Iterable[Mapping[str, Any]] = ()) -> None:
        self._calls: dict[tuple[str, str, str], list[PaidCall]] = {}
        self.add(rows)

    def add(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Take more calls, as those of a worker that has died."""
        for row in rows:
            call = PaidCall(row["value"], Calls(**row["calls"]), tuple(row.get("recordings", ())))
            calls = self._calls.setdefault(_address(row["nodeid"], row["kind"], row["key"]), [])
            if row["kind"] == SYSTEM:  # a test that runs again takes its last answer
                calls.clear()
            calls.append(call)

    def take(self, nodeid: str, kind: str, key: str) -> PaidCall | None:
        """Return what a call returned, and forget it; None if there is none."""
        found = self._calls.get(_address(nodeid, kind, key))
        return found.pop(0) if found else None


def _address(nodeid: str, kind: str, key: str) -> tuple[str, str, str]:
    """Return what identifies a call. Several cases may share a system's answer that has a key."""
    return ("" if key and kind == SYSTEM else nodeid, kind, key)
