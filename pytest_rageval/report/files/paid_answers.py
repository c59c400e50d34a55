"""Find what a run paid for without a reported case, from the journals in its folder."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

from pytest_rageval.llm.client.earlier_calls import SYSTEM
from pytest_rageval.model.calls import Calls
from pytest_rageval.report.files.journals import (
    JournaledCall,
    calls_in_flight,
    has_unfinished_calls,
    journal_path,
    journal_paths,
    process_of,
    read_journal,
)

__all__ = ["Paid", "paid_by", "paid_of", "paid_since", "unclaimed_of"]


@dataclass(frozen=True, slots=True)
class Paid:
    """Calls that a run paid for.

    Attributes:
        rows: the calls that a resumed run can take over, as `EarlierCalls` reads them.
        spent: (node id, cost) of the calls that no reported case counts.
        on_their_way: number of calls without a reply when the run stopped; their cost is unknown.
    """

    rows: tuple[Mapping[str, Any], ...] = ()
    spent: tuple[tuple[str, Calls], ...] = ()
    on_their_way: int = 0

    @property
    def calls(self) -> Calls:
        """The sum of what was spent."""
        return reduce(add, (calls for _, calls in self.spent), Calls(on_their_way=self.on_their_way))


def paid_of(folder: Path, reported: Collection[str], without: Collection[str] = ()) -> Paid:
    """Return what a run paid for.

    Args:
        folder: the run's folder.
        reported: node ids of its reported cases.
        without: processes to leave out.
    """
    paths = [path for path in journal_paths(folder) if process_of(path) not in without]
    each = [_paid(read_journal(path), reported) for path in paths]
    return Paid(
        tuple(row for paid in each for row in paid.rows),
        tuple(spent for paid in each for spent in paid.spent),
        sum(paid.on_their_way for paid in each),
    )


def paid_by(process: str, folder: Path, reported: Collection[str]) -> Paid:
    """Return what one process of a run paid for; ``reported`` are the node ids of reported cases."""
    return _paid(read_journal(journal_path(folder, process)), reported)


def unclaimed_of(folder: Path, reported: Collection[str], counted: Collection[str]) -> Calls:
    """Return what the processes of a run paid for that no reported case counts.

    Args:
        folder: the run's folder.
        reported: node ids of the cases whose calls are counted.
        counted: processes that already counted their calls, except calls of systems without a reply.
    """
    on_their_way = 0
    for path in journal_paths(folder):
        if process_of(path) in counted and has_unfinished_calls(path):
            on_their_way += sum(call.kind == SYSTEM for call in _on_their_way(read_journal(path)))
    cut = Calls(on_their_way=on_their_way)
    return paid_of(folder, reported, counted).calls + cut


def paid_since(earlier: Paid, later: Paid, reported: Collection[str]) -> Paid:
    """Return what two runs paid for together; the later one resumed the earlier one and reported these cases."""
    rows = [row if row["nodeid"] not in reported else _free(row) for row in earlier.rows if _lasts(row, reported)]
    spent = [(nodeid, calls) for nodeid, calls in earlier.spent if nodeid not in reported]
    on_their_way = earlier.on_their_way + later.on_their_way
    return Paid((*rows, *later.rows), (*spent, *later.spent), on_their_way)


def _paid(calls: Sequence[JournaledCall], reported: Collection[str]) -> Paid:
    by_number = {call.number: call for call in calls}
    outer = [call for call in calls if not _is_part(call, by_number, ("ended", "failed", "cancelled"))]
    whole = [call for call in calls if call.state == "ended" and call.value is not None]
    rows = [_row(call) for call in whole if not _is_part(call, by_number, ("ended",))]
    return Paid(
        tuple(row if row["nodeid"] not in reported else _free(row) for row in rows if _lasts(row, reported)),
        tuple((call.nodeid, replace(call.calls, on_their_way=0)) for call in outer if call.nodeid not in reported),
        len(_on_their_way(calls)),
    )


def _is_part(call: JournaledCall, calls: Mapping[int, JournaledCall], states: Collection[str]) -> bool:
    """Return whether a call is an inner call of a system's call in one of these states."""
    while (outer := calls.get(call.within)) is not None:
        if outer.kind == SYSTEM and outer.state in states:
            return True
        call = outer
    return False


def _on_their_way(calls: Sequence[JournaledCall]) -> list[JournaledCall]:
    """Return the calls without a reply: running ones, and those that were cancelled while they ran."""
    cut = {call.within for call in calls if call.state in ("cancelled", "unsent")}
    cancelled = [call for call in calls if call.state == "cancelled" and call.number not in cut]
    return [call for call in (*calls_in_flight(calls), *cancelled) if call.kind != "judging"]


def _row(call: JournaledCall) -> Mapping[str, Any]:
    row = {"nodeid": call.nodeid, "kind": call.kind, "key": call.key, "value": call.value}
    return row | {"calls": asdict(call.calls), "recordings": list(call.recordings)}


def _lasts(row: Mapping[str, Any], reported: Iterable[str]) -> bool:
    """Return whether a later run may use a row: its case was not reported, or other cases share its answer."""
    return row["nodeid"] not in reported or bool(row["kind"] == SYSTEM and row["key"])


def _free(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row without its cost, because a reported case counts it."""
    return {**row, "calls": asdict(Calls())}
