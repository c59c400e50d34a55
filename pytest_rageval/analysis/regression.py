"""Gates against a baseline: a drop fails a gate only if it is beyond the tolerance and significant."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from pytest_rageval.analysis.comparable import Held
from pytest_rageval.analysis.comparison import both_scored, broken_of, difference
from pytest_rageval.analysis.family import Adjusted, adjusted
from pytest_rageval.analysis.gates import LOWER, Gate
from pytest_rageval.analysis.paired import Paired
from pytest_rageval.analysis.pairing import Pair
from pytest_rageval.model.facets import ANY
from pytest_rageval.model.outcome import Outcome

if TYPE_CHECKING:
    from pytest_rageval.analysis.metric_info import MetricInfo

__all__ = [
    "ALPHA_PER", "INCONCLUSIVE", "Against", "AlphaPer", "BaselineComparison", "Policy", "Regression", "Verdict",
    "not_comparable", "regressions",
]  # fmt: skip

Policy = Literal["pass", "warn", "fail"]

INCONCLUSIVE: tuple[Policy, ...] = ("pass", "warn", "fail")
"""What becomes of a gate whose cases cannot tell a drop from noise."""

AlphaPer = Literal["session", "gate"]

ALPHA_PER: tuple[AlphaPer, ...] = ("session", "gate")
"""What the level holds for: all baseline gates of a session together, or each gate alone."""

Verdict = Literal["worse", "not_worse", "inconclusive", "not_comparable"]


@dataclass(frozen=True, slots=True)
class BaselineComparison:
    """The cases that one gate, in one cell and under one system, compares with the baseline.

    Attributes:
        gate: the gate.
        pairs: its cases, then and now, that have a value of its metric on both sides.
        of: what its metric measures, as `MetricInfo.of`.
    """

    gate: Gate
    pairs: tuple[Pair, ...]
    of: str = "answer"

    @property
    def higher_is_better(self) -> bool:
        """Whether a lower value is a worse one, as the gate's operator says."""
        return self.gate.op in LOWER

    @property
    def hypothesis(self) -> Hashable:
        """What it tests. Gates over the same pairs, metric and direction test the same, whatever their tolerance."""
        return self.gate.metric, self.higher_is_better, frozenset(map(id, self.pairs))


@dataclass(frozen=True, slots=True)
class Against:
    """What a session's gates compare with.

    Attributes:
        pairs: node id of a run -> its case, then and now.
        alpha: the wanted chance of a false alarm.
        inconclusive: what becomes of a drop that cannot be told from noise.
        per: what alpha holds for.
        held: the cases of the baseline, which say whether a gate can be compared; None compares whatever it has.
        updates: whether the run is to become the baseline, so that it only reports what cannot be compared.
        metrics: what is known of the metrics.
    """

    pairs: Mapping[str, Pair] = field(default_factory=dict)
    alpha: float = 0.05
    inconclusive: Policy = "warn"
    per: AlphaPer = "session"
    held: Held | None = None
    updates: bool = False
    metrics: Mapping[str, MetricInfo] = field(default_factory=dict)

    def of(self, outcomes: Iterable[Outcome]) -> list[Pair]:
        """Return the pairs of outcomes, each once however often its case was repeated."""
        found = {id(pair): pair for outcome in outcomes if (pair := self.pairs.get(outcome.nodeid)) is not None}
        return list(found.values())

    def why_not(
        self, cell: Gate, scope: Sequence[Outcome], covered: Sequence[Outcome], *, of: Gate, session: bool
    ) -> str:
        """Return why a gate, or one cell of the gate ``of``, cannot be compared with the baseline, or ""."""
        several = any(value == ANY and name != "system" for name, value in of.slice.items())
        return "" if self.held is None else self.held.why_not(cell, scope, covered, cell=several, session=session)

    def comparison(self, gate: Gate, outcomes: Iterable[Outcome]) -> BaselineComparison:
        """Return what a baseline gate compares over the outcomes of one of its cells."""
        info = self.metrics.get(gate.metric)
        pairs = tuple(both_scored(self.of(outcomes), gate.metric))
        return BaselineComparison(gate, pairs, "answer" if info is None else info.of)


@dataclass(frozen=True, slots=True)
class Regression:
    """What a baseline comparison says.

    Attributes:
        found: what its pairs say. The smallest detectable drop is that of the level in force.
        p_value: the one-sided p of its having become worse, adjusted for its family; None if there is no pair.
        verdict: "worse" if the drop is beyond the tolerance and significant, "inconclusive" if it is beyond the
            tolerance and not significant, "not_comparable" if the baseline holds too little to compare with.
        broken: the cases that became worse, the worst first.
        family: how many comparisons were decided together, this one included.
        of: what the metric measures, as `MetricInfo.of`.
    """

    found: Paired
    p_value: float | None
    verdict: Verdict
    broken: tuple[Pair, ...] = ()
    family: int = 1
    of: str = "answer"


def regressions(comparisons: Sequence[BaselineComparison], alpha: float) -> list[Regression]:
    """Decide a family of comparisons together and return what each says, in the same order.

    Drops inside the tolerance belong to the family; comparisons without a pair do not. Comparisons that test the same
    hypothesis count once.

    Args:
        comparisons: the family.
        alpha: the wanted chance that any of them says "worse" if nothing became worse.
    """
    hypotheses = {each.hypothesis: each for each in comparisons if each.pairs}
    found = [_difference(each, alpha, len(hypotheses)) for each in hypotheses.values()]
    decided = dict(zip(hypotheses, zip(found, adjusted(found, alpha), strict=True), strict=True))
    told: list[Regression] = []
    for each in comparisons:
        what, its = decided.get(each.hypothesis) or (_difference(each, alpha, 1), Adjusted(None, alpha))
        broken = broken_of(each.pairs, each.gate.metric, higher_is_better=each.higher_is_better)
        verdict = _verdict(each.gate, what, its.p_value, alpha)
        told.append(Regression(what.at_level(its.level), its.p_value, verdict, broken, max(1, len(found)), each.of))
    return told


def not_comparable(comparison: BaselineComparison, alpha: float) -> Regression:
    """Return what a comparison says that has too little of the baseline to be decided."""
    return Regression(_difference(comparison, alpha, 1), None, "not_comparable")


def _difference(each: BaselineComparison, alpha: float, family: int) -> Paired:
    up = each.higher_is_better
    return difference(each.pairs, each.gate.metric, higher_is_better=up, alpha=alpha, cells=family)


def _verdict(gate: Gate, found: Paired, p_value: float | None, alpha: float) -> Verdict:
    if found.delta is None or p_value is None:
        return "inconclusive"
    if gate.holds(found.delta):
        return "not_worse"
    return "worse" if p_value <= alpha else "inconclusive"
