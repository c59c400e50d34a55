"""What is drawn of the outcomes of a plan: matrices, the gain from retrieval, noise curves, repeats, correlations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import fmean

from pytest_rageval.analysis.cells import GAIN, WITH, WITHOUT, value_of
from pytest_rageval.analysis.clusters import by_case
from pytest_rageval.analysis.correlation import RankCorrelation, rank_correlation
from pytest_rageval.analysis.dialogues import Dialogues, dialogues_of
from pytest_rageval.analysis.gates import PSEUDO_METRICS, parse_gate
from pytest_rageval.analysis.matrix import Matrix, distinct, matrix_of, present
from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.analysis.repeats import Repeats, repeats_of
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.run.plan import Plan, TestbedPlan

__all__ = [
    "Correlated",
    "MatrixChoice",
    "correlations",
    "curves",
    "dialogues",
    "differences",
    "gains",
    "groups",
    "is_worth_telling",
    "matrices",
    "repeats",
]

ERAG = "erag:"


@dataclass(frozen=True, slots=True)
class MatrixChoice:
    """Which matrix is wanted; None leaves the choice to the run. The metric may be a pseudo-metric."""

    metric: str | None = None
    rows: str | None = None
    cols: str | None = None


@dataclass(frozen=True, slots=True)
class Correlated:
    """How a metric of what a testbed's cases retrieved goes together with one of their answers, under one system."""

    testbed: str
    system: str
    retrieval: str
    downstream: str
    found: RankCorrelation


def matrices(plan: Plan, outcomes: Sequence[Outcome], choice: MatrixChoice) -> list[Matrix]:
    """Return the wanted matrix for each system, or one for each primary metric when none is named."""
    return [
        matrix
        for metric, group in _by_metric(plan, outcomes, choice.metric)
        for matrix in _each_system(plan, metric, group, choice)
    ]


def differences(plan: Plan, outcomes: Sequence[Outcome], choice: MatrixChoice) -> list[Matrix]:
    """Return how each further system differs from the first, where both were scored on the same cases.

    There are none of a pseudo-metric, nor where systems are the rows or columns.
    """
    made = []
    for metric, group in _by_metric(plan, outcomes, choice.metric):
        rows, cols = _axes(group, choice)
        if metric in PSEUDO_METRICS or "system" in (rows, cols):
            continue
        first, *others = _systems(group)
        for other in others:
            both = [outcome for outcome in group if outcome.system in (first, other)]
            made.append(matrix_of(metric, False, both, rows, cols, other, first))
    return [matrix for matrix in made if matrix.total.n]


def gains(plan: Plan, outcomes: Sequence[Outcome], choice: MatrixChoice) -> list[Matrix]:
    """Return the matrix of the gain from retrieval for each system, where any case was answered with and without."""
    group = [o for o in outcomes if o.status != "skipped" and {WITH, WITHOUT} <= set(_metrics_of(plan, o))]
    if all(value_of(GAIN, outcome) is None for outcome in group):
        return []
    return _each_system(plan, GAIN, group, choice)


def curves(plan: Plan, outcomes: Sequence[Outcome]) -> list[tuple[str, str, str, list[Outcome]]]:
    """Return (testbed name, system, metric, outcomes) for each testbed run at several noise rates."""
    return [
        (testbed.name, system, testbed.primary, group)
        for testbed, system, group in _by_system(plan, outcomes)
        if len(distinct("noise_rate", group)) > 1
    ]


def repeats(plan: Plan, outcomes: Sequence[Outcome]) -> list[Repeats]:
    """Return what repeats tell of each testbed and system whose cases were asked more than once."""
    found = []
    for testbed, _, group in _by_system(plan, outcomes):
        higher_is_better = plan.metrics.get(testbed.primary, MetricInfo()).higher_is_better
        gates = [parse_gate(text) for text in testbed.gates]
        found.append(repeats_of(testbed.primary, higher_is_better, gates, group))
    return [each for each in found if each is not None]


def dialogues(plan: Plan, outcomes: Sequence[Outcome]) -> list[Dialogues]:
    """Return what the conversations of each testbed and system tell."""
    found = []
    for testbed, _, group in _by_system(plan, outcomes):
        info = plan.metrics.get(testbed.primary, MetricInfo())
        gates = [parse_gate(text) for text in testbed.gates]
        found.append(dialogues_of(testbed.primary, info.binary, info.higher_is_better, gates, group))
    return [each for each in found if each is not None]


def correlations(plan: Plan, outcomes: Sequence[Outcome]) -> list[Correlated]:
    """Return how each metric of what was retrieved goes together with each of the answers, by testbed and system.

    The case is the unit, with the mean over its repeats; it counts where both metrics have a value. The intervals take
    a moment: only testbeds whose correlations are worth telling have them.
    """
    found = []
    for testbed, system, group in _by_system(plan, outcomes):
        infos = {name: plan.metrics.get(name, MetricInfo()) for name in testbed.metrics}
        of_retrieval = [name for name, info in infos.items() if info.of == "retrieval"]
        of_answers = [name for name, info in infos.items() if info.downstream]
        if not of_retrieval or not of_answers:
            continue
        cases = list(by_case(outcome for outcome in group if outcome.status == "scored").values())
        for retrieval, downstream in product(of_retrieval, of_answers):
            pairs = _paired(cases, retrieval, downstream)
            one, other = [x for x, _ in pairs], [y for _, y in pairs]
            told = rank_correlation(one, other, intervals=is_worth_telling(testbed))
            found.append(Correlated(testbed.nodeid, system, retrieval, downstream, told))
    return found


def is_worth_telling(testbed: TestbedPlan) -> bool:
    """Return whether the summary tells a testbed's correlations: it has an ``erag:`` metric."""
    return any(ERAG in metric for metric in testbed.metrics)


def groups(outcomes: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    """Return the outcomes of each testbed, by its node id."""
    found: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        found.setdefault(outcome.testbed, []).append(outcome)
    return found


def _by_system(plan: Plan, outcomes: Sequence[Outcome]) -> Iterator[tuple[TestbedPlan, str, list[Outcome]]]:
    """Yield (testbed, system, outcomes) in the plan's order, systems sorted."""
    found = groups(outcomes)
    for nodeid, testbed in plan.testbeds.items():
        mine = found.get(nodeid, [])
        for system in sorted({outcome.system for outcome in mine}):
            yield testbed, system, [outcome for outcome in mine if outcome.system == system]


def _paired(cases: Sequence[Sequence[Outcome]], one: str, other: str) -> list[tuple[float, float]]:
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


def _each_system(plan: Plan, metric: str, group: Sequence[Outcome], choice: MatrixChoice) -> list[Matrix]:
    rows, cols = _axes(group, choice)
    info = plan.metrics.get(metric, MetricInfo())
    systems = _systems(group)
    made = []
    for system in systems:
        mine = [outcome for outcome in group if outcome.system == system]
        made.append(matrix_of(metric, info.binary, mine, rows, cols, system if len(systems) > 1 else ""))
    return made


def _axes(group: Sequence[Outcome], choice: MatrixChoice) -> tuple[str, str]:
    rows = choice.rows or ("topic" if present("topic", group) else "dataset")
    return rows, choice.cols or ("task" if present("task", group) else "ability")


def _systems(group: Sequence[Outcome]) -> list[str]:
    """Return the systems in the order in which they were named."""
    return list(dict.fromkeys(outcome.system for outcome in group))


def _by_metric(plan: Plan, outcomes: Sequence[Outcome], metric: str | None) -> list[tuple[str, list[Outcome]]]:
    asked = [outcome for outcome in outcomes if outcome.status != "skipped"]
    if metric is not None:
        anywhere = metric in PSEUDO_METRICS
        measured = asked if anywhere else [o for o in asked if metric in _metrics_of(plan, o)]
        return [(metric, measured)] if measured else []
    found: dict[str, list[Outcome]] = {}
    for outcome in asked:
        found.setdefault(_metrics_of(plan, outcome)[0], []).append(outcome)
    return sorted(found.items(), key=lambda entry: -len(entry[1]))


def _metrics_of(plan: Plan, outcome: Outcome) -> tuple[str, ...]:
    testbed = plan.testbeds.get(outcome.testbed)
    return testbed.metrics if testbed else tuple(outcome.scores) or ("-",)
