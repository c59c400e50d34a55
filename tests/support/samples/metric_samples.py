"""Samples for the tests of the metrics."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case, Gold, Instance, Passage
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.phrases import DEFAULT_MARKERS, Markers
from pytest_rageval.model.sample import Sample

POSITIVE = Passage("p0", "The evidence.", role="positive")
NEGATIVE = Passage("n0", "Noise.", role="negative")


def slots(*aliases: Sequence[str] | str) -> Gold:
    """Return gold with one slot an argument; a string is a slot with one alias."""
    return tuple((slot,) if isinstance(slot, str) else tuple(slot) for slot in aliases)


def sample(
    text: str,
    gold: Gold = (),
    *,
    fake: Gold = (),
    evidence: bool | None = None,
    abstained: bool | None = None,
    language: str = "en",
    noise_rate: str = "0",
    markers: Markers = DEFAULT_MARKERS,
) -> Sample:
    """Return a sample whose case has, lacks or does not know its evidence."""
    pool = None if evidence is None else (POSITIVE, NEGATIVE)
    supplied = None if evidence is None else (POSITIVE,) if evidence else (NEGATIVE,)
    instance = Instance("q1", "A question?", gold, pool, fake, language=language)
    case = Case("q1", instance, supplied, {"noise_rate": noise_rate})
    assert case.evidence is evidence
    return Sample(case, Answer(text, abstained=abstained), markers)


def value(metric: Metric, of: Sample) -> float | str | None:
    """Return the value of a metric, or its reason where it has no value."""
    score = metric.compute(of)
    return score.reason if score.value is None else score.value
