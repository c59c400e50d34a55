"""What repeats tell, as a section of the summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_rageval.analysis.repeats import Repeats
from pytest_rageval.errors import ascii_safe
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.text.lines import Line, few_of
from pytest_rageval.report.text.tables import labels_of, table

__all__ = ["NAMED", "REPEATS", "flip_texts", "repeat_columns", "repeat_lines", "repeats_of"]

REPEATS = "repeats - spread of the k runs' means; pass^k: all k runs pass; never: none does"
"""The heading of the section."""

NAMED = 10
"""Cases of a testbed that are named, as they flip."""


def repeat_lines(run: Run, width: int) -> Iterator[Line]:
    """Yield a table with a row for each testbed and system whose cases were repeated, and which cases flip."""
    named = repeats_of(run)
    if not named:
        return
    labels, found = [label for label, _ in named], [each for _, each in named]
    yield Line("")
    yield Line(REPEATS)
    yield from table(["testbed", *labels], repeat_columns(found), width)
    yield from (Line(ascii_safe(text)) for text in flip_texts(labels, found))


def repeat_columns(found: Sequence[Repeats]) -> list[list[str]]:
    """Return the columns of the table, each with its head, but for that of the labels."""
    return [
        ["metric", *(each.metric for each in found)],
        ["cases x k", *(f"{each.n_cases} x {each.k}" for each in found)],
        ["mean", *(_share(each.mean) for each in found)],
        ["spread", *("?" if each.spread is None else f"±{each.spread:.3f}" for each in found)],
        ["pass@1", *(_share(each.pass_at_1) for each in found)],
        ["pass^k", *(_share(each.pass_hat_k) for each in found)],
        ["flip", *(str(len(each.flips)) for each in found)],
        ["never", *(str(len(each.always_missed)) for each in found)],
    ]


def flip_texts(labels: Sequence[str], found: Sequence[Repeats]) -> Iterator[str]:
    """Yield which cases flip, for each testbed and system that has such."""
    for label, each in zip(labels, found, strict=True):
        if each.flips:
            yield f"{label} flips: {few_of(each.flips, NAMED)}"


def repeats_of(run: Run) -> list[tuple[str, Repeats]]:
    """Return what repeats tell of each testbed and system whose cases were repeated, with its name."""
    found = run.repeats()
    labels = labels_of([(run.plan.testbeds[each.testbed].name, each.system) for each in found])
    return list(zip(labels, found, strict=True))


def _share(value: float | None) -> str:
    return "?" if value is None else f"{value:.2f}"
