"""Measure how many evidence units were retrieved; a unit cut at the answer counts half."""

from __future__ import annotations

from pytest_rageval.metrics.rankings.answer_seen import unseen_slots
from pytest_rageval.metrics.rankings.evidence_ranks import UnitRanks, evidence_ranks, texts_of_incomplete_unit
from pytest_rageval.metrics.shared.matching import slot_hits
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.sample import Sample

__all__ = ["CUT", "evidence_share"]

CUT = 0.5
"""The value of a cut unit; it is found, because the passages hold half of it."""


def evidence_share(sample: Sample) -> float | Score:
    """Return the share of the evidence units that were retrieved, or why it is unknown.

    Formula: for each alternative the mean over its units: 1 if the unit is found (`evidence_ranks`), 0 if not, and
    `CUT` if it is cut; the highest of these means. A unit is cut if it is found and its quote contains a gold slot, but
    no passage contains that slot, and the passages together do not hold the whole quote.
    Range: 0..1. Empty input: 0 for an empty ranking. Source: ours.
    """
    ranks = evidence_ranks(sample)
    if isinstance(ranks, Score):
        return ranks
    return max(_share(sample, each) for each in ranks)


def _share(sample: Sample, ranks: UnitRanks) -> float:
    recall, ranking, unseen = ranks.recall(), sample.answer.ranking, unseen_slots(sample)
    if not recall or ranking is None or not unseen:
        return recall
    units = [unit for unit, rank in ranks.ranks if rank is not None]
    quotes = [texts_of_incomplete_unit(sample.case, ranking, unit) for unit in units]
    n_cut = sum(any(any(slot_hits(unseen, quote)) for quote in each) for each in quotes)
    return recall - (1 - CUT) * n_cut / len(ranks.ranks)
