"""Decide gates with a baseline: a drop fails if it is beyond the tolerance and significant."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from pytest_rageval.analysis.baseline.comparable import CaseFates
from pytest_rageval.analysis.baseline.comparison import both_scored, broken_of, difference, measured_pairs
from pytest_rageval.analysis.baseline.corrected_pairs import too_few_labels
from pytest_rageval.analysis.baseline.family import AdjustedP, adjust_family
from pytest_rageval.analysis.baseline.paired_tests import PairedTest
from pytest_rageval.analysis.baseline.pairing import Pair
from pytest_rageval.analysis.gates import LOWER, Gate
from pytest_rageval.metrics.judges.people import corrected_metric
from pytest_rageval.model.facets import ANY
from pytest_rageval.model.outcome import Outcome

if TYPE_CHECKING:
    from pytest_rageval.analysis.metric_info import MetricInfo

__all__ = [
    "ALPHA_PER",
    "AlphaPer",
    "BaselineComparison",
    "GateBaseline",
    "Policy",
    "Regression",
    "Verdict",
    "not_comparable",
    "regressions",
]  # fmt: skip

Policy = Literal["pass", "warn", "fail"]
"""Policies for a gate whose drop is beyond its tolerance and not significant."""

AlphaPer = Literal["session", "gate"]

ALPHA_PER: tuple[AlphaPer, ...] = ("session", "gate")
"""Scope of the level: all baseline gates of a session together, or each gate alone."""

Verdict = Literal["worse", "not_worse", "inconclusive", "not_comparable"]


@dataclass(frozen=True, slots=True)
class BaselineComparison:
    """The cases that one gate, in one cell and under one system, compares with the baseline.

    Attributes:
        gate: the gate.
        pairs: the cases of the gate that have a value of its metric in both runs.
        compared: the pairs that are tested: ``pairs``, or for a corrected mean those that the judge scored.
        of: what its metric measures, as `MetricInfo.of`.
    """

    gate: Gate
    pairs: tuple[Pair, ...]
    of: str = "answer"
    compared: tuple[Pair, ...] = ()

    @property
    def higher_is_better(self) -> bool:
        """Whether a lower value is worse, from the gate's operator."""
        return self.gate.op in LOWER

    @property
    def hypothesis(self) -> Hashable:
        """Key of the tested hypothesis: the pairs, the metric and the direction, without the tolerance."""
        return self.gate.metric, self.higher_is_better, frozenset(map(id, self.compared))


@dataclass(frozen=True, slots=True)
class GateBaseline:
    """The baseline of a session's gates, and how to compare with it.

    Attributes:
        pairs: node id of a run -> its case in the baseline and now.
        alpha: the accepted chance of a false alarm.
        inconclusive: policy for a drop that is beyond the tolerance and not significant.
        per: scope of alpha.
        fates: the fates of the baseline's cases, to check whether a gate is comparable; None skips that check.
        updates: whether the run becomes the baseline; it then only reports gates that are not comparable.
        metrics: metric -> its metadata.
    """

    pairs: Mapping[str, Pair] = field(default_factory=dict)
    alpha: float = 0.05
    inconclusive: Policy = "warn"
    per: AlphaPer = "session"
    fates: CaseFates | None = None
    updates: bool = False
    metrics: Mapping[str, MetricInfo] = field(default_factory=dict)

    def of(self, outcomes: Iterable[Outcome]) -> list[Pair]:
        """Return the pairs of outcomes, one for all repeats of a case."""
        pairs = {id(pair): pair for outcome in outcomes if (pair := self.pairs.get(outcome.nodeid)) is not None}
        return list(pairs.values())

    def why_not(
        self, cell: Gate, scope: Sequence[Outcome], covered: Sequence[Outcome], *, of: Gate, session: bool
    ) -> str:
        """Return why a gate, or one cell of the gate ``of``, cannot be compared with the baseline, or ""."""
        several = any(value == ANY and name != "system" for name, value in of.slice.items())
        why = "" if self.fates is None else self.fates.why_not(cell, scope, covered, cell=several, session=session)
        if not why and corrected_metric(cell.metric) and (few := too_few_labels(self.of(covered), cell.metric)):
            why = f"not comparable, {few}"
        return why

    def comparison(self, gate: Gate, outcomes: Iterable[Outcome]) -> BaselineComparison:
        """Return the comparison of a baseline gate over the outcomes of one of its cells."""
        info = self.metrics.get(gate.metric)
        pairs = self.of(outcomes)
        scored, of = tuple(both_scored(pairs, gate.metric)), "answer" if info is None else info.of
        return BaselineComparison(gate, scored, of, tuple(measured_pairs(pairs, gate.metric)))


@dataclass(frozen=True, slots=True)
class Regression:
    """The result of a baseline comparison.

    Attributes:
        test: the result of the paired test, with the smallest detectable drop at the adjusted level.
        p_value: the one-sided p of a drop, adjusted for its family; None without pairs.
        verdict: "worse" if the drop is beyond the tolerance and significant, "inconclusive" if it is beyond the
            tolerance and not significant, "not_comparable" if the baseline holds too little to compare with.
        broken: the cases that became worse, the worst first.
        family: number of comparisons decided together, including this one.
        of: what the metric measures, as `MetricInfo.of`.
    """

    test: PairedTest
    p_value: float | None
    verdict: Verdict
    broken: tuple[Pair, ...] = ()
    family: int = 1
    of: str = "answer"


def regressions(comparisons: Sequence[BaselineComparison], alpha: float) -> list[Regression]:
    """Decide a family of comparisons together and return their results, in the same order.

    Drops inside the tolerance belong to the family; comparisons without a pair do not. Comparisons that test the same
    hypothesis count once.

    Args:
        comparisons: the family.
        alpha: the accepted chance of any verdict "worse" if nothing became worse.
    """
    hypotheses = {each.hypothesis: each for each in comparisons if each.compared}
    tests = [_difference(each, alpha, len(hypotheses)) for each in hypotheses.values()]
    decided = dict(zip(hypotheses, zip(tests, adjust_family(tests, alpha), strict=True), strict=True))
    results: list[Regression] = []
    for each in comparisons:
        test, family = decided.get(each.hypothesis) or (_difference(each, alpha, 1), AdjustedP(None, alpha))
        broken = broken_of(each.pairs, each.gate.metric, higher_is_better=each.higher_is_better)
        p_value, n = family.p_value, max(1, len(tests))
        verdict = _verdict(each.gate, test, p_value, alpha)
        results.append(Regression(test.at_level(family.level), p_value, verdict, broken, n, each.of))
    return results


def not_comparable(comparison: BaselineComparison, alpha: float) -> Regression:
    """Return the result of a comparison with too few cases of the baseline to be decided."""
    return Regression(_difference(comparison, alpha, 1), None, "not_comparable")


def _difference(each: BaselineComparison, alpha: float, family: int) -> PairedTest:
    up = each.higher_is_better
    return difference(each.compared, each.gate.metric, higher_is_better=up, alpha=alpha, cells=family)


def _verdict(gate: Gate, test: PairedTest, p_value: float | None, alpha: float) -> Verdict:
    if test.delta is None or p_value is None:
        return "inconclusive"
    if gate.holds(test.delta):
        return "not_worse"
    return "worse" if p_value <= alpha else "inconclusive"
