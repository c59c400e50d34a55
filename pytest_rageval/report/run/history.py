"""How a metric went from run to run, or from commit to commit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_rageval.errors import SettingError, UnknownNameError
from pytest_rageval.report.run.totals import Total

__all__ = ["Entry", "Point", "Series", "Unread", "Wanted", "history_to_plain", "series_of"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a history is of; None is every testbed, by its primary metric, and every system."""

    metric: str | None = None
    testbed: str | None = None
    system: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """A run, or a commit of a baseline.

    Attributes:
        name: the run's name, or the commit's hash.
        when: when it started or was committed, in ISO 8601.
        totals: what came of it.
        testbeds: node id -> (short name, primary metric); those that tell of judges alone are left out.
        marks: how it was no whole run, which others are not held against: "interrupted", "3 not run", ...
        subject: the commit's; "" of a run.
    """

    name: str
    when: str
    totals: Sequence[Total]
    testbeds: dict[str, tuple[str, str]]
    marks: tuple[str, ...] = ()
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Unread:
    """A run or commit that cannot be read, and why."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Point:
    """One entry of a series; ``delta`` is the difference of a whole run's value to that of the one before."""

    entry: Entry
    total: Total
    delta: float | None


@dataclass(slots=True)
class Series:
    """A metric of one testbed under one system, oldest first."""

    testbed: str
    name: str
    system: str
    metric: str
    points: list[Point] = field(default_factory=list)

    def add(self, entry: Entry, total: Total) -> None:
        """Put one more behind the last."""
        before = next((point.total.value for point in reversed(self.points) if not point.entry.marks), None)
        delta = None if entry.marks or before is None or total.value is None else total.value - before
        self.points.append(Point(entry, total, delta))


def series_of(entries: Sequence[Entry], wanted: Wanted) -> list[Series]:
    """Return the series that are wanted, those of the newest entry first, in its order.

    A testbed's metric is by default the primary one that the newest entry with that testbed names.

    Args:
        entries: oldest first; at least one.
        wanted: what is wanted of them.

    Raises:
        SettingError: no testbed of an entry has a total.
        UnknownNameError: no entry has the testbed, the system or the metric that is wanted.
    """
    testbeds = {nodeid: told for entry in entries for nodeid, told in entry.testbeds.items()}
    _check(wanted, [total for entry in entries for total in entry.totals if total.testbed in testbeds], testbeds)
    kept = [[total for total in entry.totals if _is_wanted(total, wanted, testbeds)] for entry in entries]
    found = {
        (total.testbed, total.system): Series(total.testbed, testbeds[total.testbed][0], total.system, total.metric)
        for totals in reversed(kept)
        for total in totals
    }
    for entry, totals in zip(entries, kept, strict=True):
        for total in totals:
            found[total.testbed, total.system].add(entry, total)
    return list(found.values())


def _check(wanted: Wanted, totals: list[Total], testbeds: Mapping[str, tuple[str, str]]) -> None:
    """Refuse a name that nothing has."""
    if not totals:
        raise SettingError("nothing was scored in any of them; run the tests to the end")
    if wanted.testbed is not None:
        totals = [total for total in totals if wanted.testbed in (total.testbed, testbeds[total.testbed][0])]
        if not totals:
            raise UnknownNameError("testbed", wanted.testbed, {name for name, _ in testbeds.values()}, "--testbed")
    for kind, name in (("system", wanted.system), ("metric", wanted.metric)):
        known = {getattr(total, kind) for total in totals}
        if name is not None and name not in known:
            raise UnknownNameError(kind, name, known, f"--{kind}")


def _is_wanted(total: Total, wanted: Wanted, testbeds: Mapping[str, tuple[str, str]]) -> bool:
    if total.testbed not in testbeds:
        return False
    name, primary = testbeds[total.testbed]
    return (
        total.metric == (wanted.metric or primary)
        and wanted.system in (None, total.system)
        and wanted.testbed in (None, total.testbed, name)
    )


def history_to_plain(series: Sequence[Series], unread: Sequence[Unread], label: str) -> dict[str, Any]:
    """Return a history as builtins of JSON; ``label`` is "run" or "commit"."""
    return {
        "series": [
            {
                "testbed": each.testbed,
                "name": each.name,
                "system": each.system,
                "metric": each.metric,
                "points": [_plain(point, label) for point in each.points],
            }
            for each in series
        ],
        "unread": [{label: each.name, "why": each.why} for each in unread],
    }


def _plain(point: Point, label: str) -> dict[str, Any]:
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
            "marks": list(entry.marks),
        }
    )
