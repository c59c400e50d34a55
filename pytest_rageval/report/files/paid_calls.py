"""Find a run's paid calls that no reported case counts, from the journals in its folder."""

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

__all__ = ["PaidCalls", "join_paid", "paid_by_process", "paid_by_run", "unclaimed_calls"]


@dataclass(frozen=True, slots=True)
class PaidCalls:
    """Paid calls of a run: those that a later run can use, and the costs that no reported case counts.

    Attributes:
        rows: the calls whose results a later run can use, in the form that `EarlierCalls` reads.
        costs: (node id, usage and cost) of each call that no reported case counts.
        on_their_way: number of calls without a reply when the run ended; their cost is unknown.
    """

    rows: tuple[Mapping[str, Any], ...] = ()
    costs: tuple[tuple[str, Calls], ...] = ()
    on_their_way: int = 0

    @property
    def calls(self) -> Calls:
        """The sum of the costs."""
        return reduce(add, (calls for _, calls in self.costs), Calls(on_their_way=self.on_their_way))


def paid_by_run(folder: Path, reported: Collection[str], without: Collection[str] = ()) -> PaidCalls:
    """Return the paid calls of a run.

    Args:
        folder: the run's folder.
        reported: node ids of the run's reported cases.
        without: names of processes to leave out.
    """
    paths = [path for path in journal_paths(folder) if process_of(path) not in without]
    by_process = [_paid_calls(read_journal(path), reported) for path in paths]
    return PaidCalls(
        tuple(row for paid in by_process for row in paid.rows),
        tuple(cost for paid in by_process for cost in paid.costs),
        sum(paid.on_their_way for paid in by_process),
    )


def paid_by_process(process: str, folder: Path, reported: Collection[str]) -> PaidCalls:
    """Return the paid calls of one process of a run; ``reported`` are the node ids of reported cases."""
    return _paid_calls(read_journal(journal_path(folder, process)), reported)


def unclaimed_calls(folder: Path, reported: Collection[str], counted: Collection[str]) -> Calls:
    """Return the sum of the paid calls of a run that no reported case counts.

    Args:
        folder: the run's folder.
        reported: node ids of the cases whose calls are counted.
        counted: names of processes that already counted their calls, except system calls without a reply.
    """
    on_their_way = 0
    for path in journal_paths(folder):
        if process_of(path) in counted and has_unfinished_calls(path):
            on_their_way += sum(call.kind == SYSTEM for call in _calls_without_reply(read_journal(path)))
    without_reply = Calls(on_their_way=on_their_way)
    return paid_by_run(folder, reported, counted).calls + without_reply


def join_paid(earlier: PaidCalls, later: PaidCalls, reported: Collection[str]) -> PaidCalls:
    """Join the paid calls of a run and of the run that it resumed; ``reported`` are the later run's cases."""
    rows = [
        row if row["nodeid"] not in reported else _without_cost(row)
        for row in earlier.rows
        if _is_reusable(row, reported)
    ]
    costs = [(nodeid, calls) for nodeid, calls in earlier.costs if nodeid not in reported]
    on_their_way = earlier.on_their_way + later.on_their_way
    return PaidCalls((*rows, *later.rows), (*costs, *later.costs), on_their_way)


def _paid_calls(calls: Sequence[JournaledCall], reported: Collection[str]) -> PaidCalls:
    by_number = {call.number: call for call in calls}
    outer = [call for call in calls if not _is_nested(call, by_number, ("ended", "failed", "cancelled"))]
    completed = [call for call in calls if call.state == "ended" and call.value is not None]
    rows = [_row(call) for call in completed if not _is_nested(call, by_number, ("ended",))]
    return PaidCalls(
        tuple(
            row if row["nodeid"] not in reported else _without_cost(row) for row in rows if _is_reusable(row, reported)
        ),
        tuple((call.nodeid, replace(call.calls, on_their_way=0)) for call in outer if call.nodeid not in reported),
        len(_calls_without_reply(calls)),
    )


def _is_nested(call: JournaledCall, calls: Mapping[int, JournaledCall], states: Collection[str]) -> bool:
    """Return whether a call is nested in a system call with one of these states."""
    while (outer := calls.get(call.within)) is not None:
        if outer.kind == SYSTEM and outer.state in states:
            return True
        call = outer
    return False


def _calls_without_reply(calls: Sequence[JournaledCall]) -> list[JournaledCall]:
    """Return the calls without a reply: running ones, and those that were cancelled while they ran."""
    outer_numbers = {call.within for call in calls if call.state in ("cancelled", "unsent")}
    cancelled = [call for call in calls if call.state == "cancelled" and call.number not in outer_numbers]
    return [call for call in (*calls_in_flight(calls), *cancelled) if call.kind != "judging"]


def _row(call: JournaledCall) -> Mapping[str, Any]:
    row = {"nodeid": call.nodeid, "kind": call.kind, "key": call.key, "value": call.value}
    return row | {"calls": asdict(call.calls), "recordings": list(call.recordings)}


def _is_reusable(row: Mapping[str, Any], reported: Iterable[str]) -> bool:
    """Return whether a later run can use a call: its case was not reported, or other cases share its answer."""
    return row["nodeid"] not in reported or bool(row["kind"] == SYSTEM and row["key"])


def _without_cost(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row with cost 0, because a reported case counts its cost."""
    return {**row, "calls": asdict(Calls())}
