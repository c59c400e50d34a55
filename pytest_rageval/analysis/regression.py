"""Gates against a baseline: a drop fails one only where it passes the tolerance and chance does not explain it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pytest_rageval.analysis.comparable import Held
from pytest_rageval.analysis.comparison import both_scored, broken_of, difference
from pytest_rageval.analysis.gates import LOWER, Gate
from pytest_rageval.analysis.multiplicity import holm
from pytest_rageval.analysis.paired import Paired
from pytest_rageval.analysis.pairing import Pair
from pytest_rageval.model.facets import ANY
from pytest_rageval.model.outcome import Outcome

__all__ = ["INCONCLUSIVE", "Against", "Policy", "Regression", "Verdict", "regressions"]

Policy = Literal["pass", "warn", "fail"]

INCONCLUSIVE: tuple[Policy, ...] = ("pass", "warn", "fail")
"""What becomes of a gate whose cases cannot tell a drop from noise."""

Verdict = Literal["worse", "not_worse", "inconclusive", "not_comparable"]


@dataclass(frozen=True, slots=True)
class Against:
    """What a session's gates compare with.

    Attributes:
        pairs: node id of a run -> its case, then and now.
        alpha: how many false alarms are taken, as a share.
        inconclusive: what becomes of a drop that cannot be told from noise.
        held: the cases of the baseline, which say whether a gate can be compared; None compares whatever it has.
        updates: whether the run is to become the baseline, so that it only reports what cannot be compared.
    """

    pairs: Mapping[str, Pair] = field(default_factory=dict)
    alpha: float = 0.05
    inconclusive: Policy = "warn"
    held: Held | None = None
    updates: bool = False

    def of(self, outcomes: Iterable[Outcome]) -> list[Pair]:
        """Return the pairs of outcomes, each once however often its case was repeated."""
        found = {id(pair): pair for outcome in outcomes if (pair := self.pairs.get(outcome.nodeid)) is not None}
        return list(found.values())

    def why_not(self, cell: Gate, scope: Sequence[Outcome], covered: Sequence[Outcome], *, of: Gate) -> str:
        """Return why a gate, or one cell of the gate ``of``, cannot be compared with the baseline, or ""."""
        several = any(value == ANY and name != "system" for name, value in of.slice.items())
        return "" if self.held is None else self.held.why_not(cell, scope, covered, cell=several)


@dataclass(frozen=True, slots=True)
class Regression:
    """What a gate's cases, or those of one of its cells, say against the baseline.

    Attributes:
        found: what the pairs tell.
        p_value: the one-sided p of its having become worse, corrected (Holm) over the gate's cells; None of no pair.
        verdict: "worse" where the drop is beyond the tolerance and no noise, "inconclusive" where so few pairs cannot
            tell it from noise, "not_comparable" where the baseline holds too little to compare with.
        broken: the cases that became worse, the worst first.
    """

    found: Paired
    p_value: float | None
    verdict: Verdict
    broken: tuple[Pair, ...] = ()


def regressions(gate: Gate, cells: Sequence[Sequence[Outcome]], against: Against) -> list[Regression]:
    """Return what each cell of a baseline gate says, decided together.

    Args:
        gate: the gate; the operator says what is worse.
        cells: the outcomes of each of its cells.
        against: the baseline.
    """
    up = gate.op in LOWER
    pairs = [both_scored(against.of(outcomes), gate.metric) for outcomes in cells]
    told = [difference(each, gate.metric, higher_is_better=up, alpha=against.alpha, cells=len(cells)) for each in pairs]
    return [
        Regression(
            found,
            p_value,
            _verdict(gate, found, p_value, against.alpha),
            broken_of(each, gate.metric, higher_is_better=up),
        )
        for found, p_value, each in zip(told, holm([found.p_worse for found in told]), pairs, strict=True)
    ]


def _verdict(gate: Gate, found: Paired, p_value: float | None, alpha: float) -> Verdict:
    if found.delta is None or p_value is None:
        return "inconclusive"
    if gate.holds(found.delta):
        return "not_worse"
    return "worse" if p_value <= alpha else "inconclusive"
