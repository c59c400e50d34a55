"""Choose the cases that a failed gate names: the worst, the always missing, the flaky."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_rageval.analysis.cells import value_of
from pytest_rageval.analysis.clusters import by_case, case_names, has_repeats
from pytest_rageval.analysis.gates import LOWER, PSEUDO_METRICS, Gate
from pytest_rageval.analysis.usage import USAGE_FIELDS, outcomes_with_answer, usage_value
from pytest_rageval.model.outcome import Outcome

__all__ = ["WORST", "Flaws", "badness", "flaws_of", "worst_of"]

WORST = 5
"""How many cases a failed gate names."""


@dataclass(frozen=True, slots=True)
class Flaws:
    """The repeated cases behind a failed gate.

    Attributes:
        always: names of the cases that miss the bound in every scored repeat: they got worse.
        flipping: names of the cases that miss the bound in some repeats and hold it in others: they are flaky.
    """

    always: tuple[str, ...]
    flipping: tuple[str, ...]


def worst_of(gate: Gate, covered: Sequence[Outcome]) -> tuple[tuple[str, float | None], ...]:
    """Return up to five (node id, value) that count most against the gate, the worst first."""
    if gate.metric == "error_rate":
        return tuple((o.nodeid, None) for o in covered if o.status == "error")[:WORST]
    if gate.metric in USAGE_FIELDS:
        values = [(outcome.nodeid, usage_value(gate.metric, outcome)) for outcome in outcomes_with_answer(covered)]
    else:
        values = [(o.nodeid, value_of(gate.metric, o)) for o in covered if o.status == "scored"]
    rows = [(nodeid, value) for nodeid, value in values if value is not None]
    return tuple(sorted(rows, key=lambda row: (badness(gate, row[1]), row[0]))[:WORST])


def flaws_of(gate: Gate, covered: Sequence[Outcome]) -> Flaws | None:
    """Return which cases miss the bound in every repeat and which flip; None without repeats."""
    if gate.metric in PSEUDO_METRICS or not has_repeats(covered):
        return None
    always, flipping = [], []
    cases = list(by_case(covered).values())
    for name, case in zip(case_names(cases), cases, strict=True):
        values = [value_of(gate.metric, outcome) for outcome in case if outcome.status == "scored"]
        results = {gate.holds(value) for value in values if value is not None}
        if results == {False}:
            always.append(name)
        elif results == {True, False}:
            flipping.append(name)
    return Flaws(tuple(always), tuple(flipping))


def badness(gate: Gate, value: float | None) -> float:
    """Return a sort key that puts the worst value first: the lowest for a lower bound, else the highest."""
    if value is None:
        return float("-inf")
    return value if gate.op in LOWER else -value
