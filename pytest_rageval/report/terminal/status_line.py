"""The status line of a running session: progress, results, cost, time left."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pytest_rageval.errors import ascii_safe
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.run.plan import Plan
from pytest_rageval.report.text.fit_text import cut, legible
from pytest_rageval.report.text.lines import counted, dollars

__all__ = ["Pace", "PendingWork", "Progress", "duration", "fit_parts", "sum_pending"]

MIN_CASES = 4
"""Cases that must end between two moments before the pace is estimated."""

RECENT_CASES = 20
"""Number of latest cases that decide the pace; three waves of parallel calls if that is more."""

SAME_MOMENT = 0.25
"""Seconds within which cases count as ended at the same moment, because their answers were awaited together."""


class PendingWork(NamedTuple):
    """The work of a process that no outcome reports yet.

    Attributes:
        answered: number of cases that were answered ahead of their tests.
        in_flight: number of model calls without a reply.
        cost: known cost of these calls, in US dollars; None if nothing is known.
    """

    answered: int = 0
    in_flight: int = 0
    cost: float | None = None


def sum_pending(processes: Iterable[PendingWork]) -> PendingWork:
    """Return the sum of the work of several processes."""
    rows = list(processes)
    known = [row.cost for row in rows if row.cost is not None]
    counts = sum(row.answered for row in rows), sum(row.in_flight for row in rows)
    return PendingWork(*counts, sum(known) if known else None)


class Pace:
    """Estimates the time left from the latest cases.

    The first case does not count, because it may load what all cases share, such as a model.
    """

    def __init__(self) -> None:
        self._ended: deque[tuple[float, int]] = deque()
        self._wave = 0

    def seconds_left(self, elapsed: float, ended: int, total: int, in_flight: int) -> float | None:
        """Return the estimated seconds for the remaining cases; None until a full wave of parallel calls has ended.

        Args:
            elapsed: seconds since the first case began.
            ended: number of cases that have ended.
            total: number of cases.
            in_flight: number of calls without a reply; the largest number so far is a wave.
        """
        moments, self._wave = self._ended, max(self._wave, in_flight)
        if ended and (not moments or ended != moments[-1][1]):
            moment = moments.pop()[0] if moments and elapsed - moments[-1][0] < SAME_MOMENT else elapsed
            moments.append((moment, ended))
        while len(moments) > 2 and ended - moments[1][1] >= max(RECENT_CASES, 3 * self._wave):
            moments.popleft()
        if not moments or ended - moments[0][1] < max(MIN_CASES, self._wave):
            return None
        (first, before), (last, _) = moments[0], moments[-1]
        return (total - ended) * (last - first) / (ended - before) - (elapsed - last)


@dataclass(slots=True)
class Progress:
    """The intermediate results of a running session.

    Attributes:
        plan: the session's plan.
        done: number of cases that have ended.
        errors: how many of them ended in an error.
        values: (primary metric, system) -> sum and number of its values.
        cost: known cost of model calls, in US dollars; None if nothing is known.
    """

    plan: Plan
    done: int = 0
    errors: int = 0
    values: dict[tuple[str, str], tuple[float, int]] = field(default_factory=dict)
    cost: float | None = None
    _pace: Pace = field(default_factory=Pace)

    def take(self, outcome: Outcome, earlier: Outcome | None = None) -> None:
        """Count an outcome instead of an earlier one of the same case; the costs of both add up."""
        if earlier is not None:
            self._count(earlier, -1)
        self._count(outcome, 1)
        calls = outcome.calls
        if calls is not None and calls.calls and calls.cost_usd is not None:
            self.cost = (self.cost or 0.0) + calls.cost_usd

    def parts(self, elapsed: float, under_way: PendingWork) -> list[str]:
        """Return the parts of the status line, the most important first; a part begins with its separator.

        Args:
            elapsed: seconds since the first case began.
            under_way: the work that no outcome reports yet.
        """
        total, cost = len(self.plan.cases), sum_pending((under_way, PendingWork(cost=self.cost))).cost
        answered = min(under_way.answered, total - self.done)
        left = self._pace.seconds_left(elapsed, self.done + answered, total, under_way.in_flight)
        runs = " runs" if any("repeat" in facets for facets in self.plan.facets) else ""
        parts = [f"rag: {self.done:,}{f'+{answered:,}' if answered else ''}/{total:,}{runs}"]
        if self.errors:
            parts.append(f" · {counted(self.errors, 'error')}")
        if under_way.in_flight:
            parts.append(f" · {under_way.in_flight} in flight")
        if cost is not None:
            parts.append(f" · {dollars(cost)}")
        if left is not None and left >= 0.5:
            parts.append(f" · {duration(left)} left")
        return [ascii_safe(part) for part in (*parts, *self._means())]

    def _means(self) -> list[str]:
        several, means, before = len({system for _, system in self.values}) > 1, [], ""
        for (metric, system), (sum_of, n) in sorted(self.values.items(), key=lambda item: item[0][0]):
            if n:
                name = f" {system}" if several else ""
                means.append(f"{',' if metric == before else f' · {metric}'}{name} {sum_of / n:.2f}")
                before = metric
        return means

    def _count(self, outcome: Outcome, by: int) -> None:
        self.done += by
        self.errors += by * (outcome.status == "error")
        testbed = self.plan.testbeds.get(outcome.testbed)
        if testbed is None or testbed.labelled or outcome.status != "scored":
            return
        score = outcome.scores.get(testbed.primary)
        if score is not None and score.value is not None:
            key = testbed.primary, outcome.system
            sum_of, n = self.values.get(key, (0.0, 0))
            self.values[key] = sum_of + by * score.value, n + by


def fit_parts(parts: Sequence[str], width: int, encoding: str | None) -> str:
    """Return the first parts that fit into ``width`` columns, and an ellipsis for the others.

    If not even the first part fits, it is cut.
    """
    from wcwidth import wcswidth

    shown = [legible(part, encoding) for part in parts]
    for n in range(len(shown), 0, -1):
        text = "".join(shown[:n]) + (legible(" …", encoding) if n < len(shown) else "")
        if wcswidth(text) <= width:
            return text
    return cut(shown[0], width)


def duration(seconds: float) -> str:
    """Return ``40 s``, ``3 min`` or ``2 h 05 min``."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"
