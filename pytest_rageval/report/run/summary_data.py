"""Compute the data of reports: matrices, gain, noise curves, repeats, correlations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from statistics import fmean

from pytest_rageval.analysis.cells import GAIN, MODEL_ACCURACY, RAG_ACCURACY, value_of
from pytest_rageval.analysis.clusters import by_case
from pytest_rageval.analysis.correlation import RankCorrelation, rank_correlation
from pytest_rageval.analysis.dialogues import Dialogues, dialogues_of
from pytest_rageval.analysis.gates import PSEUDO_METRICS, parse_gate
from pytest_rageval.analysis.matrix import Matrix, facet_values, has_facet, matrix_of
from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.analysis.repeats import Repeats, repeats_of
from pytest_rageval.model.facets import OF_SYSTEMS
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.model.storage import ALWAYS
from pytest_rageval.report.run.plan import Plan, TestbedPlan

__all__ = [
    "MatrixChoice",
    "MetricCorrelation",
    "correlations",
    "curves",
    "dialogues",
    "differences",
    "gains",
    "matrices",
    "outcomes_by_testbed",
    "repeats",
    "shows_correlations",
]

ERAG = "erag:"


@dataclass(frozen=True, slots=True)
class MatrixChoice:
    """The metric and the facets of rows and columns of a matrix; None means the run's default.

    The metric may be a pseudo-metric, such as ``cost_usd``.
    """

    metric: str | None = field(default=None, metadata=ALWAYS)
    rows: str | None = field(default=None, metadata=ALWAYS)
    cols: str | None = field(default=None, metadata=ALWAYS)


@dataclass(frozen=True, slots=True)
class MetricCorrelation:
    """The rank correlation of a retrieval metric with an answer metric, for one testbed and system."""

    testbed: str
    system: str
    retrieval: str
    downstream: str
    correlation: RankCorrelation


def matrices(plan: Plan, outcomes: Sequence[Outcome], choice: MatrixChoice) -> list[Matrix]:
    """Return the chosen matrix for each system, or one for each primary metric if no metric is chosen.

    If rows or columns tell the systems apart, such as workflow and model, one matrix has all systems.
    """
    return [
        matrix
        for metric, group in _by_metric(plan, outcomes, choice.metric)
        for matrix in _matrix_of_each_system(plan, metric, group, choice)
    ]


def differences(plan: Plan, outcomes: Sequence[Outcome], choice: MatrixChoice) -> list[Matrix]:
    """Return matrices of the differences of each further system from the first, over the cases that both scored.

    Pseudo-metrics have no differences; matrices whose rows or columns are systems have none either.
    """
    differences_of_systems = []
    for metric, group in _by_metric(plan, outcomes, choice.metric):
        rows, cols = _axes(group, choice)
        if metric in PSEUDO_METRICS or {rows, cols}.intersection(OF_SYSTEMS):
            continue
        first, *others = _systems(group)
        for other in others:
            both = [outcome for outcome in group if outcome.system in (first, other)]
            differences_of_systems.append(matrix_of(metric, False, both, rows, cols, other, first))
    return [matrix for matrix in differences_of_systems if matrix.total.n]


def gains(plan: Plan, outcomes: Sequence[Outcome], choice: MatrixChoice) -> list[Matrix]:
    """Return the gain from retrieval for each system, if any case was answered with and without retrieval."""
    needed = {RAG_ACCURACY, MODEL_ACCURACY}
    group = [o for o in outcomes if o.status != "skipped" and needed <= set(_metrics_of(plan, o))]
    if all(value_of(GAIN, outcome) is None for outcome in group):
        return []
    return _matrix_of_each_system(plan, GAIN, group, choice)


def curves(plan: Plan, outcomes: Sequence[Outcome]) -> list[tuple[str, str, str, list[Outcome]]]:
    """Return (testbed name, system, metric, outcomes) for each testbed run at several noise rates."""
    return [
        (testbed.name, system, testbed.primary, group)
        for testbed, system, group in _by_system(plan, outcomes)
        if len(facet_values("noise_rate", group)) > 1
    ]


def repeats(plan: Plan, outcomes: Sequence[Outcome]) -> list[Repeats]:
    """Return the statistics of repeats, for each testbed and system with repeated cases."""
    statistics = []
    for testbed, _, group in _by_system(plan, outcomes):
        higher_is_better = plan.metrics.get(testbed.primary, MetricInfo()).higher_is_better
        gates = [parse_gate(text) for text in testbed.gates]
        statistics.append(repeats_of(testbed.primary, higher_is_better, gates, group))
    return [each for each in statistics if each is not None]


def dialogues(plan: Plan, outcomes: Sequence[Outcome]) -> list[Dialogues]:
    """Return the statistics of conversations, for each testbed and system."""
    statistics = []
    for testbed, _, group in _by_system(plan, outcomes):
        info = plan.metrics.get(testbed.primary, MetricInfo())
        gates = [parse_gate(text) for text in testbed.gates]
        statistics.append(dialogues_of(testbed.primary, info.binary, info.higher_is_better, gates, group))
    return [each for each in statistics if each is not None]


def correlations(plan: Plan, outcomes: Sequence[Outcome]) -> list[MetricCorrelation]:
    """Return the correlation of each retrieval metric with each answer metric, by testbed and system.

    Each case counts once, with the mean over its repeats, if both metrics have a value. Intervals take time to compute,
    so only testbeds whose correlations the summary shows have them.
    """
    metric_correlations = []
    for testbed, system, group in _by_system(plan, outcomes):
        infos = {name: plan.metrics.get(name, MetricInfo()) for name in testbed.metrics}
        of_retrieval = [name for name, info in infos.items() if info.of == "retrieval"]
        of_answers = [name for name, info in infos.items() if info.downstream]
        if not of_retrieval or not of_answers:
            continue
        cases = list(by_case(outcome for outcome in group if outcome.status == "scored").values())
        for retrieval, downstream in product(of_retrieval, of_answers):
            pairs = _value_pairs(cases, retrieval, downstream)
            one, other = [x for x, _ in pairs], [y for _, y in pairs]
            correlation = rank_correlation(one, other, intervals=shows_correlations(testbed))
            metric_correlations.append(MetricCorrelation(testbed.nodeid, system, retrieval, downstream, correlation))
    return metric_correlations


def shows_correlations(testbed: TestbedPlan) -> bool:
    """Return whether the summary shows a testbed's correlations: it has an ``erag:`` metric."""
    return any(ERAG in metric for metric in testbed.metrics)


def outcomes_by_testbed(outcomes: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    """Return node id of each testbed -> its outcomes."""
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault(outcome.testbed, []).append(outcome)
    return groups


def _by_system(plan: Plan, outcomes: Sequence[Outcome]) -> Iterator[tuple[TestbedPlan, str, list[Outcome]]]:
    """Yield (testbed, system, outcomes) in the plan's order, systems sorted."""
    by_testbed = outcomes_by_testbed(outcomes)
    for nodeid, testbed in plan.testbeds.items():
        group = by_testbed.get(nodeid, [])
        for system in sorted({outcome.system for outcome in group}):
            yield testbed, system, [outcome for outcome in group if outcome.system == system]


def _value_pairs(cases: Sequence[Sequence[Outcome]], one: str, other: str) -> list[tuple[float, float]]:
    """Return the two values of each case that has both."""
    pairs = []
    for runs in cases:
        both = [(value_of(one, run), value_of(other, run)) for run in runs]
        known = [(x, y) for x, y in both if x is not None and y is not None]
        if len(known) > 1:
            pairs.append((fmean(x for x, _ in known), fmean(y for _, y in known)))
        else:
            pairs += known
    return pairs


def _matrix_of_each_system(plan: Plan, metric: str, group: Sequence[Outcome], choice: MatrixChoice) -> list[Matrix]:
    rows, cols = _axes(group, choice)
    info = plan.metrics.get(metric, MetricInfo())
    systems = _systems(group)
    system_matrices = []
    if len(systems) > 1 and _has_one_system_per_cell(group, rows, cols):
        return [matrix_of(metric, info.binary, group, rows, cols)]
    for system in systems:
        of_system = [outcome for outcome in group if outcome.system == system]
        system_matrices.append(
            matrix_of(metric, info.binary, of_system, rows, cols, system if len(systems) > 1 else "")
        )
    return system_matrices


def _has_one_system_per_cell(group: Sequence[Outcome], rows: str, cols: str) -> bool:
    """Return whether rows or columns are systems, workflows or models, and each cell has only one system."""
    axes = [axis for axis in (rows, cols) if axis in OF_SYSTEMS]
    cells: dict[tuple[str, ...], str] = {}
    places = ((tuple(outcome.facets.get(axis, "-") for axis in axes), outcome.system) for outcome in group)
    return bool(axes) and all(cells.setdefault(cell, system) == system for cell, system in places)


def _axes(group: Sequence[Outcome], choice: MatrixChoice) -> tuple[str, str]:
    rows = choice.rows or ("topic" if has_facet("topic", group) else "dataset")
    return rows, choice.cols or ("task" if has_facet("task", group) else "ability")


def _systems(group: Sequence[Outcome]) -> list[str]:
    """Return the systems in the order of the outcomes."""
    return list(dict.fromkeys(outcome.system for outcome in group))


def _by_metric(plan: Plan, outcomes: Sequence[Outcome], metric: str | None) -> list[tuple[str, list[Outcome]]]:
    ran = [outcome for outcome in outcomes if outcome.status != "skipped"]
    if metric is not None:
        measured = ran if metric in PSEUDO_METRICS else [o for o in ran if metric in _metrics_of(plan, o)]
        return [(metric, measured)] if measured else []
    by_metric: dict[str, list[Outcome]] = {}
    for outcome in ran:
        by_metric.setdefault(_metrics_of(plan, outcome)[0], []).append(outcome)
    return sorted(by_metric.items(), key=lambda entry: -len(entry[1]))


def _metrics_of(plan: Plan, outcome: Outcome) -> tuple[str, ...]:
    testbed = plan.testbeds.get(outcome.testbed)
    return testbed.metrics if testbed else tuple(outcome.scores) or ("-",)
