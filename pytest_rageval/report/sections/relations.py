"""The section on variants: how each relation changes the metric, and how stable answers are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pytest_rageval.analysis.statistics import Interval
from pytest_rageval.analysis.variants import RelationResult, relation_results
from pytest_rageval.report.run.plan import TestbedPlan
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.sections.section import Section, Table
from pytest_rageval.report.text.lines import Line, few_of
from pytest_rageval.report.text.tables import labels_of

__all__ = ["RELATIONS"]

TITLE = "relations - before, after: the metric of the originals and of their variants"

MAX_VARIANTS = 3
"""Variants to list for a relation."""


def _compute(run: Run) -> list[RelationResult]:
    binary = {name: info.binary for name, info in run.plan.metrics.items()}
    return relation_results(run.of_systems(variants=True), run.primary, binary)


def _tables(results: Sequence[RelationResult], testbeds: Mapping[str, TestbedPlan]) -> Iterator[Table]:
    """Yield a table with a row for each testbed, system and relation, and the least stable variants."""
    places = labels_of([(testbeds[each.testbed].name, each.system) for each in results])
    several = len(set(places)) > 1
    pairs = zip(places, results, strict=True)
    labels = [f"{place} {each.relation}" if several else each.relation for place, each in pairs]
    columns = [
        ["relation", *labels],
        ["n", *(str(each.n) for each in results)],
        ["cases", *(str(each.n_cases) for each in results)],
        ["metric", *(each.metric for each in results)],
        ["before", *(_share(each.before) for each in results)],
        ["after", *(_share(each.after) for each in results)],
        ["stable", *(_share(each.stable) + _interval(each.ci95) for each in results)],
        ["unscored", *(str(each.n_unscored or "–") for each in results)],
    ]
    filled = [column for column in columns if set(column[1:]) != {"–"}]
    unstable = [(label, each.unstable) for label, each in zip(labels, results, strict=True) if each.unstable]
    yield Table(
        TITLE, filled, [Line(f"{label}, least stable: {few_of(names, MAX_VARIANTS)}") for label, names in unstable]
    )


def _share(value: float | None) -> str:
    return "?" if value is None else f"{value:.2f}"


def _interval(ci95: Interval | None) -> str:
    return "" if ci95 is None else f" [{ci95[0]:.2f}, {ci95[1]:.2f}]"


RELATIONS = Section("relations", RelationResult, _compute, _tables)
