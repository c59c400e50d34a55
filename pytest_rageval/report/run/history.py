"""The history of a metric over runs, or over commits of the baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_rageval.errors import SettingError, UnknownNameError
from pytest_rageval.report.run.totals import Total

__all__ = ["Entry", "HistoryQuery", "Point", "Series", "UnreadableEntry", "history_to_plain", "series_of"]


@dataclass(frozen=True, slots=True)
class HistoryQuery:
    """Filters of a history; None means all testbeds, all systems, or each testbed's primary metric."""

    metric: str | None = None
    testbed: str | None = None
    system: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One point in time of a history: a run, or a commit of a baseline.

    Attributes:
        name: name of the run, or hash of the commit.
        when: time of the start or of the commit, in ISO 8601.
        totals: one for each testbed, system and metric.
        testbeds: node id -> (short name, primary metric), without testbeds that only measure judges.
        marks: node id of a testbed -> why the entry has only part of its cases, such as "interrupted" or "3 not run".
            Such a testbed is compared with no other entry.
        subject: subject line of the commit; "" for a run.
    """

    name: str
    when: str
    totals: Sequence[Total]
    testbeds: dict[str, tuple[str, str]]
    marks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    subject: str = ""


@dataclass(frozen=True, slots=True)
class UnreadableEntry:
    """A run or commit that cannot be read.

    Attributes:
        name: name of the run, or hash of the commit.
        why: the reason, such as "because it removed the file".
    """

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Point:
    """One entry of a series.

    Attributes:
        entry: the run or commit.
        total: its total of the series' metric.
        delta: change since the latest earlier entry with all cases of the testbed. None if there is no such entry, or
            if this entry has only part of the cases.
    """

    entry: Entry
    total: Total
    delta: float | None

    @property
    def marks(self) -> tuple[str, ...]:
        """Why the entry has only part of the testbed's cases; empty if it has all."""
        return self.entry.marks.get(self.total.testbed, ())


@dataclass(slots=True)
class Series:
    """A metric of one testbed under one system, oldest first."""

    testbed: str
    name: str
    system: str
    metric: str
    points: list[Point] = field(default_factory=list)

    def add(self, entry: Entry, total: Total) -> None:
        """Append an entry, with its change since the previous complete one."""
        previous = next((point.total.value for point in reversed(self.points) if not point.marks), None)
        point = Point(entry, total, None)
        if not (point.marks or previous is None or total.value is None):
            point = replace(point, delta=total.value - previous)
        self.points.append(point)


def series_of(entries: Sequence[Entry], query: HistoryQuery) -> list[Series]:
    """Return the series that match a query, in the order of the newest entry.

    The default metric of a testbed is its primary metric in the newest entry that has the testbed.

    Args:
        entries: oldest first; at least one.
        query: which series to return.

    Raises:
        SettingError: no testbed of an entry has a total.
        UnknownNameError: no entry has the testbed, system or metric of the query.
    """
    testbeds = {nodeid: info for entry in entries for nodeid, info in entry.testbeds.items()}
    _check_names(query, [total for entry in entries for total in entry.totals if total.testbed in testbeds], testbeds)
    totals_by_entry = [[total for total in entry.totals if _matches(total, query, testbeds)] for entry in entries]
    series = {
        (total.testbed, total.system): Series(total.testbed, testbeds[total.testbed][0], total.system, total.metric)
        for totals in reversed(totals_by_entry)
        for total in totals
    }
    for entry, totals in zip(entries, totals_by_entry, strict=True):
        for total in totals:
            series[total.testbed, total.system].add(entry, total)
    return list(series.values())


def _check_names(query: HistoryQuery, totals: list[Total], testbeds: Mapping[str, tuple[str, str]]) -> None:
    """Raise if the query names a testbed, system or metric that no total has."""
    if not totals:
        raise SettingError("nothing was scored in any of them; run the tests to the end")
    if query.testbed is not None:
        totals = [total for total in totals if query.testbed in (total.testbed, testbeds[total.testbed][0])]
        if not totals:
            raise UnknownNameError("testbed", query.testbed, {name for name, _ in testbeds.values()}, "--testbed")
    for kind, name in (("system", query.system), ("metric", query.metric)):
        known = {getattr(total, kind) for total in totals}
        if name is not None and name not in known:
            raise UnknownNameError(kind, name, known, f"--{kind}")


def _matches(total: Total, query: HistoryQuery, testbeds: Mapping[str, tuple[str, str]]) -> bool:
    if total.testbed not in testbeds:
        return False
    name, primary = testbeds[total.testbed]
    return (
        total.metric == (query.metric or primary)
        and query.system in (None, total.system)
        and query.testbed in (None, total.testbed, name)
    )


def history_to_plain(series: Sequence[Series], unread: Sequence[UnreadableEntry], label: str) -> dict[str, Any]:
    """Return a history as JSON builtins.

    Args:
        series: the series.
        unread: the runs or commits that cannot be read.
        label: "run" or "commit", the key of an entry's name.
    """
    return {
        "series": [
            {
                "testbed": each.testbed,
                "name": each.name,
                "system": each.system,
                "metric": each.metric,
                "points": [_encode_point(point, label) for point in each.points],
            }
            for each in series
        ],
        "unread": [{label: each.name, "why": each.why} for each in unread],
    }


def _encode_point(point: Point, label: str) -> dict[str, Any]:
    entry, total = point.entry, point.total
    return (
        {label: entry.name, "when": entry.when}
        | ({"subject": entry.subject} if entry.subject else {})
        | {
            "value": total.value,
            "n": total.n,
            "n_errors": total.n_errors,
            "ci95": None if total.ci95 is None else list(total.ci95),
            "delta": point.delta,
            "marks": list(point.marks),
        }
    )
