"""Repeats in the summary: their spread, and the cases that flip."""

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
"""Maximum number of flipping cases that are listed for a testbed."""


def repeat_lines(run: Run, width: int) -> Iterator[Line]:
    """Yield a table with a row for each testbed and system with repeated cases, and which cases flip."""
    pairs = repeats_of(run)
    if not pairs:
        return
    labels, repeats = [label for label, _ in pairs], [each for _, each in pairs]
    yield Line("")
    yield Line(REPEATS)
    yield from table(["testbed", *labels], repeat_columns(repeats), width)
    yield from (Line(ascii_safe(text)) for text in flip_texts(labels, repeats))


def repeat_columns(repeats: Sequence[Repeats]) -> list[list[str]]:
    """Return the columns of the table with their heads, without the column of labels."""
    return [
        ["metric", *(each.metric for each in repeats)],
        ["cases x k", *(f"{each.n_cases} x {each.k}" for each in repeats)],
        ["mean", *(_share(each.mean) for each in repeats)],
        ["spread", *("?" if each.spread is None else f"±{each.spread:.3f}" for each in repeats)],
        ["pass@1", *(_share(each.pass_at_1) for each in repeats)],
        ["pass^k", *(_share(each.pass_hat_k) for each in repeats)],
        ["flip", *(str(len(each.flips)) for each in repeats)],
        ["never", *(str(len(each.always_missed)) for each in repeats)],
    ]


def flip_texts(labels: Sequence[str], repeats: Sequence[Repeats]) -> Iterator[str]:
    """Yield which cases flip, for each testbed and system with flipping cases."""
    for label, each in zip(labels, repeats, strict=True):
        if each.flips:
            yield f"{label} flips: {few_of(each.flips, NAMED)}"


def repeats_of(run: Run) -> list[tuple[str, Repeats]]:
    """Return (label, repeats) for each testbed and system with repeated cases."""
    repeats = run.repeats()
    labels = labels_of([(run.plan.testbeds[each.testbed].name, each.system) for each in repeats])
    return list(zip(labels, repeats, strict=True))


def _share(value: float | None) -> str:
    return "?" if value is None else f"{value:.2f}"
