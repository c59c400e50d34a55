"""Retrieval as OmniEval publishes it."""

from __future__ import annotations

from pytest_rageval.metrics.relevance import judgements
from pytest_rageval.model.metric import Metric, Sample
from pytest_rageval.model.outcome import Score

__all__ = ["OMNIEVAL_MAP_COMPAT", "omnieval_map_compat"]


def omnieval_map_compat(sample: Sample) -> Score:
    """Score the precision at the ranks of what is relevant, over what was found of it.

    Formula: sum of the precision at each rank that has a relevant document / the number of such ranks: unlike `AP`,
    what was missed costs nothing. Ranks are those of the answer, whatever the scores, and a document that stands there
    again is a hit again.
    Range: 0..1, higher is better. Empty input: an empty ranking, or one without a hit, scores 0; no qrels or no ranking
    is not applicable.
    Source: OmniEval (Wang et al., 2024), its MAP.
    """
    found = judgements(sample)
    if isinstance(found, Score):
        return found
    qrels, ranking = found
    ranks = [rank for rank, name in enumerate(ranking.doc_ids, 1) if qrels.get(name, 0) > 0]
    return Score(sum(hits / rank for hits, rank in enumerate(ranks, 1)) / len(ranks) if ranks else 0.0)


OMNIEVAL_MAP_COMPAT = Metric("omnieval_map_compat", omnieval_map_compat, of="retrieval")
