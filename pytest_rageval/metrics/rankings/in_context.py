"""Check whether a retrieved passage contains the gold answer, without a model."""

from __future__ import annotations

from pytest_rageval.metrics.answers.containment import NO_GOLD
from pytest_rageval.metrics.rankings.ranked_passages import NO_RANKING, NO_TEXTS, passage_with_text
from pytest_rageval.metrics.shared.matching import slot_hits
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.sample import Sample

__all__ = ["ANSWER_IN_CONTEXT", "answer_in_context"]


def answer_in_context(sample: Sample) -> Score:
    """Score whether a retrieved passage contains a gold answer.

    Formula: 1 if an alias of any gold slot is in the title or in the text of a retrieved passage (see
    `matching.contains`), else 0. Title and text are searched separately.
    Range: 0 or 1, higher is better. Empty input: an empty ranking scores 0; no gold is not applicable; no ranking
    has the reason no_ranking, and a passage without a text no_texts.
    Source: the "containing the answer" baseline of eRAG (Salemi and Zamani, SIGIR 2024).
    """
    gold, ranking = sample.case.instance.gold, sample.answer.ranking
    if not gold:
        return NO_GOLD
    if ranking is None:
        return NO_RANKING
    passages = [passage_with_text(item, sample.case.instance) for item in ranking]
    for passage in passages:
        if passage is not None and any(slot_hits(gold, passage.title, passage.text)):
            return Score(1.0)
    return NO_TEXTS if None in passages else Score(0.0)


ANSWER_IN_CONTEXT = Metric("answer_in_context", answer_in_context, binary=True, of="retrieval")
