"""Compose the sentences of an account from numbers and names."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from pytest_rageval.analysis.gates import Gate
from pytest_rageval.analysis.misses import bound_of
from pytest_rageval.metrics.answers.stable import BY_RULE, STABLE
from pytest_rageval.model.facets import RELATION, place_text
from pytest_rageval.model.outcome import Outcome

__all__ = [
    "OPPOSITE", "broken_text", "case_sentence", "change_sentence", "miss_sentence", "other_causes_text", "p_text",
    "two_values", "where_text",
]  # fmt: skip

OPPOSITE = {">=": "<", ">": "<=", "<=": ">", "<": ">="}

LEAST_P = 0.001
"""Smallest p-value that is printed; a smaller one is printed as ``p < 0.001``."""


def change_sentence(
    where: str, metric: str, was: float, now: float, counts: str, p_value: float, symptom: str = ""
) -> str:
    """Return ``task=qa rouge_l 0.35 -> 0.18 (57 of 77 broke, p < 0.001), answers shorter``."""
    before, after = two_values(was, now)
    tail = f", {symptom}" if symptom else ""
    return f"{where}{metric} {before} -> {after} ({counts}, {p_text(p_value)}){tail}"


def miss_sentence(where: str, gate: Gate, value: float, counts: str = "", symptom: str = "") -> str:
    """Return ``noise_rate=0.8 accuracy 0.27 < 0.50 (22 of 30 missed), abstained``."""
    value_text, bound = two_values(value, gate.bound)
    tail = f", {symptom}" if symptom else ""
    return f"{where}{gate.metric} {value_text} {OPPOSITE[gate.op]} {bound}{f' ({counts})' if counts else ''}{tail}"


def case_sentence(outcome: Outcome, primary: str, gates: Sequence[Gate]) -> str:
    """Return why a case missed: ``accuracy 0.00 < 0.90``, or the metric and its value if no gate bounds it.

    For a case without a value, return only the name of the metric.
    """
    by_rule = outcome.facets.get(RELATION) in BY_RULE
    metric = STABLE.name if by_rule else primary
    value, gate = outcome.scores[metric].value, None if by_rule else bound_of(primary, gates)
    if value is None:
        return metric
    if gate is not None:
        return miss_sentence("", gate, value)
    return f"{metric} {value:.2f}{' < 1.00' if by_rule else ''}"


def broken_text(broken: Collection[str], dropped: Collection[str] | None) -> str:
    """Return how many cases broke by the primary metrics, and how many of them belong to a significant drop.

    Args:
        broken: node ids of the cases whose primary metric is worse than in the baseline, including changes by chance.
        dropped: `Account.dropped`; None if it is unknown.
    """
    n, n_in_drops = len({*broken}), len({*broken}.intersection(dropped or ()))
    text = f"broken by the primary metric: {n:,} {'case' if n == 1 else 'cases'}"
    if dropped is None:
        return text
    if not n_in_drops:
        return f"{text}, none in a significant drop"
    return f"{text}, {'all' if n_in_drops == n else f'{n_in_drops:,} of them'} in a significant drop"


def other_causes_text(causes: Mapping[str, int]) -> str:
    """Return ``, 2 by generation, 1 unknown``: how many cases of a finding have other causes; "" if none has."""
    return "".join(f", {n} {'' if cause == 'unknown' else 'by '}{cause}" for cause, n in causes.items() if n)


def where_text(testbed: str, system: str, where: Mapping[str, str]) -> str:
    """Return ``town system=react task=qa`` and a space after it; empty parts are left out, and "" has no space."""
    parts = [testbed, f"system={system}" if system else "", place_text(where)]
    return "".join(f"{part} " for part in parts if part)


def p_text(p_value: float) -> str:
    """Return ``p 0.004``, or ``p < 0.001``."""
    return f"p {p_value:.2g}" if p_value >= LEAST_P else f"p < {LEAST_P}"


def two_values(one: float, other: float) -> tuple[str, str]:
    """Return two values with two decimals, or with up to six if they would look alike."""
    digits = next((n for n in range(2, 6) if f"{one:.{n}f}" != f"{other:.{n}f}"), 6)
    return f"{one:.{digits}f}", f"{other:.{digits}f}"
