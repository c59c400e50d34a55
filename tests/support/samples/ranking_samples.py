"""Samples with rankings, for the tests of ranking metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case, Gold, Instance
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.model.sample import Sample
from support.samples.metric_samples import slots

NOTHING: Mapping[str, int] = {}


def ranking(*documents: str | tuple[str, float | None]) -> Ranking:
    """Return a ranking of ids, or of ids and scores, best first."""
    pairs = [(each, None) if isinstance(each, str) else each for each in documents]
    return Ranking(tuple(ScoredPassage(name, score) for name, score in pairs))


def retrieved(
    result: Ranking | None,
    qrels: Mapping[str, int] = NOTHING,
    provenance: Sequence[Sequence[str]] = (),
    *,
    text: str = "Rome",
    gold: Gold = slots("Rome"),  # noqa: B008 - a tuple
) -> Sample:
    """Return a sample whose answer has a ranking."""
    instance = Instance("q1", "A question?", gold, qrels=qrels, provenance=tuple(map(tuple, provenance)))
    return Sample(Case("q1", instance, None, {}), Answer(text, result))
