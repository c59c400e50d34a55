"""What repeats tell, as a section of the summary."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rageval.analysis.repeats import Repeats
from pytest_rageval.errors import ascii_safe
from pytest_rageval.report.lines import Line, few_of
from pytest_rageval.report.run import Run
from pytest_rageval.report.tables import table

__all__ = ["NAMED", "repeat_lines", "repeats_of"]

NAMED = 10
"""Cases of a testbed that are named, as they flip."""


def repeat_lines(run: Run, width: int) -> Iterator[Line]:
    """Yield a table with a row for each testbed and system whose cases were repeated, and which cases flip."""
    named = repeats_of(run)
    if not named:
        return
    found = [each for _, each in named]
    columns = [
        ["metric", *(each.metric for each in found)],
        ["cases x k", *(f"{each.n_cases} x {each.k}" for each in found)],
        ["mean", *(_share(each.mean) for each in found)],
        ["spread", *("?" if each.spread is None else f"±{each.spread:.3f}" for each in found)],
        ["pass@1", *(_share(each.pass_at_1) for each in found)],
        ["pass^k", *(_share(each.pass_hat_k) for each in found)],
        ["flip", *(str(len(each.flips)) for each in found)],
        ["never", *(str(len(each.always_missed)) for each in found)],
    ]
    yield Line("")
    yield Line("repeats - spread of the k runs' means; pass^k: all k runs pass; never: none does")
    yield from table(["testbed", *(label for label, _ in named)], columns, width)
    for label, each in named:
        if each.flips:
            yield Line(ascii_safe(f"{label} flips: {few_of(each.flips, NAMED)}"))


def repeats_of(run: Run) -> list[tuple[str, Repeats]]:
    """Return what repeats tell of each testbed and system whose cases were repeated, with its name."""
    found = run.repeats()
    several = len({each.system for each in found}) > 1
    names = (run.plan.testbeds[each.testbed].name for each in found)
    return [(f"{name} ({each.system})" if several else name, each) for name, each in zip(names, found, strict=True)]


def _share(value: float | None) -> str:
    return "?" if value is None else f"{value:.2f}"
