"""Measure how much of the gold answer the passages of a system contain."""

from __future__ import annotations

from pytest_rageval.metrics.rankings.ranked_passages import passage_with_text
from pytest_rageval.metrics.shared.matching import slot_hits
from pytest_rageval.model.case import Gold, Passage
from pytest_rageval.model.sample import Sample

__all__ = ["answer_seen", "unseen_slots"]


def answer_seen(sample: Sample) -> float | None:
    """Return the share of the gold slots that the retrieved passages (without a ranking: the supplied ones) contain.

    Formula: gold slots with an alias in the title or the text of a passage (see `matching.occurrences`) / gold slots.
    Range: 0..1. Empty input: an empty ranking contains no slot; None without gold, without passages, and if a slot is
    in no known text but the text of some passage is unknown.
    Source: ours; the same share as for relevance by "answers". It finds the cause of a failure without labels.
    """
    gold, unseen = sample.case.instance.gold, unseen_slots(sample)
    return None if unseen is None else (len(gold) - len(unseen)) / len(gold)


def unseen_slots(sample: Sample) -> Gold | None:
    """Return the gold slots that no passage of the system contains; None if `answer_seen` is None."""
    gold, passages = sample.case.instance.gold, _passages(sample)
    if not gold or passages is None:
        return None
    texts = [f"{passage.title}\n{passage.text}" for passage in passages if passage is not None]
    unseen = tuple(slot for slot in gold if not any(slot_hits((slot,), text)[0] is not None for text in texts))
    return None if unseen and None in passages else unseen


def _passages(sample: Sample) -> list[Passage | None] | None:
    """Return the retrieved, else the supplied passages, None for a passage of unknown text; None if there are none."""
    case, ranking = sample.case, sample.answer.ranking
    if ranking is not None:
        return [passage_with_text(item, case.instance) for item in ranking]
    return None if case.supplied is None else list(case.supplied)
