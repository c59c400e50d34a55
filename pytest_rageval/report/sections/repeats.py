"""Repeats in the summary: the spread of their means, and the cases that flip."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pytest_rageval.analysis.repeats import Repeats
from pytest_rageval.report.run.plan import TestbedPlan
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.sections.section import Section, Table
from pytest_rageval.report.text.lines import Line, few_of
from pytest_rageval.report.text.tables import labels_of

__all__ = ["MAX_CASES", "REPEATS", "repeat_labels"]

TITLE = "repeats - spread of the k runs' means; pass^k: all k runs pass; never: none does"

MAX_CASES = 10
"""Maximum number of flipping cases that are listed for a testbed."""


def _tables(repeats: Sequence[Repeats], testbeds: Mapping[str, TestbedPlan]) -> Iterator[Table]:
    """Yield a table with a row for each testbed and system with repeated cases, and which cases flip."""
    labels = repeat_labels(repeats, testbeds)
    columns = [
        ["testbed", *labels],
        ["metric", *(each.metric for each in repeats)],
        ["cases x k", *(f"{each.n_cases} x {each.k}" for each in repeats)],
        ["mean", *(_share(each.mean) for each in repeats)],
        ["spread", *("?" if each.spread is None else f"±{each.spread:.3f}" for each in repeats)],
        ["pass@1", *(_share(each.pass_at_1) for each in repeats)],
        ["pass^k", *(_share(each.pass_hat_k) for each in repeats)],
        ["flip", *(str(len(each.flips)) for each in repeats)],
        ["never", *(str(len(each.always_missed)) for each in repeats)],
    ]
    flipping = [(label, each.flips) for label, each in zip(labels, repeats, strict=True) if each.flips]
    yield Table(TITLE, columns, [Line(f"{label} flips: {few_of(flips, MAX_CASES)}") for label, flips in flipping])


def repeat_labels(repeats: Sequence[Repeats], testbeds: Mapping[str, TestbedPlan]) -> list[str]:
    """Return the label of each row: its testbed, and its system if there are several."""
    return labels_of([(testbeds[each.testbed].name, each.system) for each in repeats])


def _share(value: float | None) -> str:
    return "?" if value is None else f"{value:.2f}"


REPEATS = Section("repeats", Repeats, Run.repeats, _tables, verbosity=0, in_markdown=False, top_level=True)
