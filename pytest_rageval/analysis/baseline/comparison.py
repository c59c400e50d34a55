"""Compare a run with an earlier one: broken and fixed cases, and significance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import TYPE_CHECKING

from pytest_rageval.analysis.baseline.corrected_pairs import corrected_difference, judged_pairs
from pytest_rageval.analysis.baseline.failure_cause import Cause, causes_of, n_by_answer
from pytest_rageval.analysis.baseline.multiplicity import holm
from pytest_rageval.analysis.baseline.paired_tests import PairedTest, paired_test
from pytest_rageval.analysis.baseline.pairing import Pair, Pairing, pair_up
from pytest_rageval.analysis.baseline.snapshot import Snapshot
from pytest_rageval.analysis.baseline.units_of_pairs import units_of_pairs
from pytest_rageval.metrics.judges.people import corrected_metric
from pytest_rageval.model.facets import RELATION, VARIANT, parent_facet, place_of, sort_key

if TYPE_CHECKING:
    from pytest_rageval.analysis.metric_info import MetricInfo

__all__ = ["Comparison", "MetricComparison", "both_scored", "broken_of", "compare", "difference", "measured_pairs"]


@dataclass(frozen=True, slots=True)
class MetricComparison:
    """A metric compared between two runs, over all cases of a testbed and system or over one cell.

    Attributes:
        testbed: the testbed's node id, in the later run.
        metric: the metric's name.
        system: the system's name, in the later run.
        slice: the cell; {} for all cases.
        n: number of compared scores; a case with several settings counts once for each setting.
        test: the paired test over the cases.
        broken: the cases whose value is worse, the worst first.
        fixed: the cases whose value is better, the best first.
        causes: cause -> number of broken cases.
        by_answer: number of broken cases whose cause follows from the gold answer, because evidence labels are missing.
        of: what the metric measures, see `MetricInfo.of`.
        p_holm: the two-sided p; for a cell, corrected by Holm over all cells of the metric; for all cases, uncorrected.
    """

    testbed: str
    metric: str
    system: str
    slice: Mapping[str, str]
    n: int
    test: PairedTest
    broken: tuple[Pair, ...] = ()
    fixed: tuple[Pair, ...] = ()
    causes: Mapping[Cause, int] = field(default_factory=dict)
    p_holm: float | None = None
    by_answer: int = 0
    of: str = "answer"

    def is_significant(self, alpha: float) -> bool:
        """Return whether the change is significant at ``alpha`` after correction."""
        return self.p_holm is not None and self.p_holm <= alpha and bool(self.test.delta)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of two runs.

    Attributes:
        before, after: the runs.
        pairing: the cases of the two runs, matched.
        results: for each testbed, system and metric (the primary one first): the result of all cases, then of each
            cell.
        whole: whether the later run has all testbeds of the earlier one and all cases of its own testbeds.
    """

    before: Snapshot
    after: Snapshot
    pairing: Pairing
    results: tuple[MetricComparison, ...] = ()
    whole: bool = True

    @property
    def same_fingerprint(self) -> bool:
        """Whether both runs have the same data and settings."""
        return self.before.fingerprint == self.after.fingerprint

    @property
    def answers_changed(self) -> int:
        """How many answers changed while all their scores stayed the same."""
        return sum(
            not pair.same_answer and bool(pair.before.said) and pair.before.scores == pair.after.scores
            for pair in self.pairing.pairs
        )

    @property
    def unscored(self) -> dict[str, int]:
        """Metric of the later run -> how many compared cases have a score in the earlier run only."""
        unscored: dict[str, set[tuple[str, str]]] = {}
        for pair in self.pairing.pairs:
            before, after = pair.before.scores, pair.after
            for metric in self.after.testbeds[after.testbed].metrics:
                if metric in before and metric not in after.scores and not corrected_metric(metric):
                    unscored.setdefault(metric, set()).add((after.testbed, after.case))
        return {metric: len(cases) for metric, cases in sorted(unscored.items())}

    @property
    def overall(self) -> tuple[MetricComparison, ...]:
        """The results over all cases of a testbed, without cells."""
        return tuple(each for each in self.results if not each.slice)

    def is_primary(self, result: MetricComparison) -> bool:
        """Return whether a result is of its testbed's primary metric."""
        return self.after.testbeds[result.testbed].metrics[0] == result.metric

    def cells_of(self, over: MetricComparison) -> tuple[MetricComparison, ...]:
        """Return the cells of a result over all cases."""
        row = over.testbed, over.metric, over.system
        return tuple(each for each in self.results if each.slice and (each.testbed, each.metric, each.system) == row)


def compare(
    before: Snapshot,
    after: Snapshot,
    axes: tuple[str | None, str | None] = (None, None),
    *,
    alpha: float,
    whole: bool = True,
    all_cells: bool = True,
) -> Comparison:
    """Compare two runs. Variants are left out unless the facet "relation" or "variant" forms the cells.

    Args:
        before: the earlier run, such as a committed baseline.
        after: the later run.
        axes: the two facets that form the cells; None chooses a facet that the cases have.
        alpha: the accepted share of false alarms.
        whole: whether ``after`` has all cases of its testbeds; if not, missing cases do not count as removed.
        all_cells: whether to compare every metric in every cell, or only the primary metrics.
    """
    over_variants = RELATION in axes or VARIANT in axes
    cases = (before.cases, after.cases) if over_variants else (before.originals, after.originals)
    pairing = pair_up(*cases)
    if not whole:
        pairing = replace(pairing, removed=())
    groups: dict[tuple[str, str], list[Pair]] = {}
    for pair in pairing.pairs:
        groups.setdefault((pair.after.testbed, pair.after.system), []).append(pair)
    results: list[MetricComparison] = []
    for nodeid, testbed in after.testbeds.items():
        for (testbed_of_pairs, system), pairs in groups.items():
            for number, metric in enumerate(testbed.metrics if testbed_of_pairs == nodeid else ()):
                info = after.metrics.get(metric)
                overall = _metric_comparison(nodeid, metric, system, {}, pairs, info, alpha, 1)
                if overall.test.n_pairs:
                    results.append(overall)
                    if all_cells or not number:
                        results += _cells(overall, pairs, _axes(pairs, axes), info, alpha)
    return Comparison(before, after, pairing, tuple(results), whole and set(before.testbeds) <= set(after.testbeds))


def both_scored(pairs: Iterable[Pair], metric: str) -> list[Pair]:
    """Return the pairs with a value of the metric in both runs."""
    return [pair for pair in pairs if metric in pair.before.scores and metric in pair.after.scores]


def measured_pairs(pairs: Sequence[Pair], metric: str) -> Sequence[Pair]:
    """Return the pairs that a comparison of the metric tests: `both_scored`; `judged_pairs` for a corrected mean."""
    return judged_pairs(pairs, metric) if corrected_metric(metric) else both_scored(pairs, metric)


def difference(
    pairs: Sequence[Pair], metric: str, *, higher_is_better: bool, alpha: float, cells: int = 1
) -> PairedTest:
    """Test whether a metric changed over pairs from `measured_pairs`.

    A case with several settings counts once, with its mean over the settings. Cases that depend on each other in one of
    the runs form one unit, see `pytest_rageval.analysis.units`. ``cells`` is the number of comparisons that are decided
    together.
    """

    def test(tested: Sequence[Pair]) -> PairedTest:
        return _difference(tested, metric, higher_is_better=higher_is_better, alpha=alpha, cells=cells)

    if not corrected_metric(metric):
        return test(pairs)
    return corrected_difference(pairs, metric, test, higher_is_better=higher_is_better, alpha=alpha / cells)


def _difference(pairs: Sequence[Pair], metric: str, *, higher_is_better: bool, alpha: float, cells: int) -> PairedTest:
    settings: dict[tuple[str, str, str, str], list[Pair]] = {}
    for pair in pairs:
        ids = pair.before.testbed, pair.before.case, pair.after.testbed, pair.after.case
        settings.setdefault(ids, []).append(pair)
    before = [_mean([pair.before.scores[metric] for pair in case]) for case in settings.values()]
    after = [_mean([pair.after.scores[metric] for pair in case]) for case in settings.values()]
    units = units_of_pairs([case[0] for case in settings.values()])
    result = paired_test(before, after, higher_is_better=higher_is_better, alpha=alpha, cells=cells, units=units.names)
    return replace(result, facet=units.facet)


def _mean(values: Sequence[float]) -> float:
    return values[0] if len(values) == 1 else fmean(values)


def broken_of(pairs: Iterable[Pair], metric: str, *, higher_is_better: bool) -> tuple[Pair, ...]:
    """Return the pairs whose metric became worse, the worst first."""
    sign = 1 if higher_is_better else -1
    changes = [(sign * (pair.after.scores[metric] - pair.before.scores[metric]), pair) for pair in pairs]
    worse = sorted(((by, pair) for by, pair in changes if by < 0), key=lambda each: (each[0], each[1].after.name))
    return tuple(pair for _, pair in worse)


def _metric_comparison(
    testbed: str,
    metric: str,
    system: str,
    where: Mapping[str, str],
    pairs: Sequence[Pair],
    info: MetricInfo | None,
    alpha: float,
    cells: int,
) -> MetricComparison:
    higher_is_better, of = (True, "answer") if info is None else (info.higher_is_better, info.of)
    scored, tested = both_scored(pairs, metric), measured_pairs(pairs, metric)
    test = difference(tested, metric, higher_is_better=higher_is_better, alpha=alpha, cells=cells)
    broken = broken_of(scored, metric, higher_is_better=higher_is_better)
    fixed = broken_of(scored, metric, higher_is_better=not higher_is_better)
    causes = causes_of(broken, of)
    result = MetricComparison(testbed, metric, system, where, len(tested), test, broken, fixed, causes, test.p_value)
    return replace(result, by_answer=n_by_answer(broken, of), of=of)


def _cells(
    over: MetricComparison, pairs: Sequence[Pair], axes: tuple[str, str], info: MetricInfo | None, alpha: float
) -> Iterator[MetricComparison]:
    """Yield the result of each cell, with p corrected over all cells; nothing if there is only one cell."""
    groups: dict[tuple[tuple[str, str], ...], list[Pair]] = {}
    for pair in both_scored(pairs, corrected_metric(over.metric) or over.metric):
        groups.setdefault(tuple(place_of(pair.after.facets, axis) for axis in axes), []).append(pair)
    if len(groups) < 2:
        return
    cells = [
        _metric_comparison(over.testbed, over.metric, over.system, _slice(place, axes), group, info, alpha, len(groups))
        for place, group in sorted(groups.items(), key=lambda each: _order(each[0]))
    ]
    cells = [each for each in cells if each.test.n_pairs]
    p_values = [each.test.p_value for each in cells]
    for each, p_holm in zip(cells, holm(p_values), strict=True):
        yield replace(each, p_holm=p_holm)


def _axes(pairs: Sequence[Pair], axes: tuple[str | None, str | None]) -> tuple[str, str]:
    """Return the facets of rows and columns; by default topic and task if the cases have them."""
    rows, cols = axes
    values: dict[str, set[str]] = {}
    for pair in pairs:
        for name, value in pair.after.facets.items():
            values.setdefault(name, set()).add(value)
    several = "noise_rate" if len(values.get("noise_rate", ())) > 1 else "ability"
    return rows or ("topic" if "topic" in values else "dataset"), cols or ("task" if "task" in values else several)


def _slice(place: tuple[tuple[str, str], ...], axes: tuple[str, str]) -> dict[str, str]:
    """Return the facets of a cell; cases without these facets get "-", because {} means all cases."""
    facets: dict[str, str] = {}
    for axis, (over, value) in zip(axes, place, strict=True):
        facets |= ({parent_facet(axis): over} if over != "-" else {}) | ({axis: value} if value != "-" else {})
    return facets or dict.fromkeys(axes, "-")


def _order(place: tuple[tuple[str, str], ...]) -> list[tuple[int, float, str]]:
    return [sort_key(name) for pair in place for name in pair]
