"""Share of the evidence units that a system saw with the gold answer in them."""

from __future__ import annotations

from pytest_rageval.metrics.rankings.answer_seen import unseen_slots
from pytest_rageval.metrics.rankings.evidence_ranks import UnitRanks, evidence_ranks, texts_not_whole
from pytest_rageval.metrics.shared.matching import slot_hits
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.sample import Sample

__all__ = ["CUT", "evidence_share"]

CUT = 0.5
"""What a cut unit counts: a unit is found when half of it is held."""


def evidence_share(sample: Sample) -> float | Score:
    """Return the highest share of an alternative's units that were seen, or why it is unknown.

    Formula: for each unit 1 if it is found (`evidence_ranks`), 0 if not, and `CUT` if it was cut; their mean. A unit is
    cut if its quote has the gold answer, no passage has it, and the passages do not hold the whole quote together.
    Range: 0..1. Empty input: an empty ranking has no unit. Source: ours.
    """
    ranks = evidence_ranks(sample)
    if isinstance(ranks, Score):
        return ranks
    return max(_share(sample, each) for each in ranks)


def _share(sample: Sample, ranks: UnitRanks) -> float:
    recall, ranking, unseen = ranks.recall(), sample.answer.ranking, unseen_slots(sample)
    if not recall or ranking is None or not unseen:
        return recall
    found = [unit for unit, rank in ranks.ranks if rank is not None]
    quotes = [texts_not_whole(sample.case, ranking, unit) for unit in found]
    cut = sum(any(any(slot_hits(unseen, quote)) for quote in each) for each in quotes)
    return recall - (1 - CUT) * cut / len(ranks.ranks)
