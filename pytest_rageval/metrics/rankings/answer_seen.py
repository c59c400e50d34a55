"""How much of the gold answer stands in the passages that a system saw: what attributes a fault without labels."""

from __future__ import annotations

from pytest_rageval.metrics.rankings.retrieved import supplied_of
from pytest_rageval.metrics.shared.matching import slot_hits
from pytest_rageval.model.case import Passage
from pytest_rageval.model.sample import Sample

__all__ = ["answer_seen"]


def answer_seen(sample: Sample) -> float | None:
    """Return the share of the gold slots that the retrieved passages contain or, without a ranking, the supplied ones.

    Formula: gold slots of which an alias is in the title or the text of a passage (`matching.occurrences` is the rule)
    / gold slots.
    Range: 0..1. Empty input: an empty ranking holds none of the answer; the share is None without gold, without
    passages, and where a passage whose text is unknown may hold what no other does.
    Source: ours; the share is that of relevance by "answers".
    """
    gold, passages = sample.case.instance.gold, _seen(sample)
    if not gold or passages is None:
        return None
    texts = [f"{passage.title}\n{passage.text}" for passage in passages if passage is not None]
    held = [any(slot_hits((slot,), text)[0] is not None for text in texts) for slot in gold]
    if None in passages and not all(held):
        return None
    return sum(held) / len(gold)


def _seen(sample: Sample) -> list[Passage | None] | None:
    """Return the passages that the system saw, None for one of unknown text; None where no passages are known."""
    case, ranking = sample.case, sample.answer.ranking
    if ranking is not None:
        return [supplied_of(item, case.instance) for item in ranking]
    return None if case.supplied is None else list(case.supplied)
