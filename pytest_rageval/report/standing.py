"""How a session stands while it runs, as one line: how far, how good, how much."""

from __future__ import annotations

from dataclasses import dataclass, field

from pytest_rageval.errors import ascii_safe
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.lines import counted, dollars
from pytest_rageval.report.plan import Plan

__all__ = ["Standing", "duration"]

FIRST = 3  # cases that have ended before it is told how long the rest takes


@dataclass(slots=True)
class Standing:
    """What the outcomes of a session that still runs come to.

    Attributes:
        plan: what is run.
        done: how many cases have ended.
        errors: how many of them in an error.
        values: (metric, system) -> the sum of a primary metric's values, and how many there are.
        cost: what is known of what models cost, in US dollars; None as long as nothing is.
    """

    plan: Plan
    done: int = 0
    errors: int = 0
    values: dict[tuple[str, str], tuple[float, int]] = field(default_factory=dict)
    cost: float | None = None

    def take(self, outcome: Outcome, earlier: Outcome | None = None) -> None:
        """Count an outcome, in the place of an earlier one of the same case; what that cost is still spent."""
        if earlier is not None:
            self._count(earlier, -1)
        self._count(outcome, 1)
        calls = outcome.calls
        if calls is not None and calls.calls and calls.cost_usd is not None:
            self.cost = (self.cost or 0.0) + calls.cost_usd

    def text(self, elapsed: float, in_flight: int = 0) -> str:
        """Return the line.

        Args:
            elapsed: seconds since the first case began.
            in_flight: how many calls models are at work on.
        """
        total = len(self.plan.cases)
        systems = len({system for _, system in self.values})
        parts = [f"rag: {self.done:,} of {counted(total, 'case')}"]
        for (metric, system), (sum_of, n) in self.values.items():
            if n:
                parts.append(f"{metric}{f' of {system}' if systems > 1 else ''} {sum_of / n:.2f} (n {n})")
        if self.errors:
            parts.append(counted(self.errors, "error"))
        if in_flight:
            parts.append(f"{in_flight} in flight")
        if self.cost is not None:
            parts.append(dollars(self.cost))
        if FIRST <= self.done < total:
            parts.append(f"{duration(elapsed / self.done * (total - self.done))} left")
        return ascii_safe(" · ".join(parts))

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


def duration(seconds: float) -> str:
    """Return ``40 s``, ``3 min`` or ``2 h 05 min``."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"
