"""Stability: whether the answer to a variant is as good as the answer to its original."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from pytest_rageval.metrics.answers.counterfactual import fake_answer_rate
from pytest_rageval.metrics.answers.rejection import rejection_rate
from pytest_rageval.model.facets import RELATION, is_variant
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.sample import Sample

__all__ = ["BY_RULE", "NOT_COMPARED", "STABLE", "stable"]

NOT_COMPARED = "not_compared: its original may run elsewhere; the end of the session compares them"
"""The reason of a variant's score until the session has the outcome of its original."""

_NO_VARIANT = Score.not_applicable("no_variant")


def stable(sample: Sample) -> Score:
    """Score whether a variant of a case is answered as its relation expects.

    Formula: 1 - |v - o|, where v and o are the values of the testbed's primary metric for the variant and for its
    original under the same system, setting and repeat. For ``remove_evidence`` instead `rejection_rate`, for
    ``swap_evidence`` 1 - `fake_answer_rate`. The comparison needs both outcomes, which may come from different
    processes: until the session ends, a variant has no value. Not applicable to originals; without a value if the
    original ended in an error or did not run, or if v or o has no value.
    Range: 0..1, higher is better. Empty input: an empty answer counts with its value of the primary metric.
    Source: this package, over metamorphic relations (Chen et al., "Metamorphic Testing", 1998).
    """
    facets = sample.case.facets
    if not is_variant(facets):
        return _NO_VARIANT
    rule = BY_RULE.get(facets[RELATION])
    return Score(reason=NOT_COMPARED) if rule is None else rule(sample)


def _score_without_fake(sample: Sample) -> Score:
    score = fake_answer_rate(sample)
    return score if score.value is None else Score(1 - score.value)


BY_RULE: Mapping[str, Callable[[Sample], Score]] = MappingProxyType(
    {
        "remove_evidence": rejection_rate,
        "swap_evidence": _score_without_fake,
    }
)
"""The relations after which the answer should differ from the original's, and the rule that scores it."""

STABLE = Metric("stable", stable)
