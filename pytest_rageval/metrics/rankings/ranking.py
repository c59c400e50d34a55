"""Ranking metrics with ir_measures' names and trec_eval's values.

A case with evidence is scored by `evidence_ranks`; its qrels and provenance are then ignored.

`ranked_passages.by_rank` gives the ranks; a document is relevant if its grade is at least 1. An empty ranking scores 0.
Metrics are not applicable to a case without qrels ("no_qrels"); an answer without a ranking is unscored ("no_ranking").
If a testbed declares another `relevance`, `relevance.judgements` replaces the qrels.
"""

from __future__ import annotations

from collections.abc import Callable

from pytest_rageval.metrics.rankings.cutoffs import Measure, cut
from pytest_rageval.metrics.rankings.evidence_ranks import evidence_ranks
from pytest_rageval.metrics.rankings.ranked_passages import by_rank
from pytest_rageval.metrics.rankings.relevance import by_evidence, judgements
from pytest_rageval.metrics.rankings.trec import TREC_EVAL
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.sample import Sample

__all__ = [
    "MEASURES",
    "average_precision",
    "judged",
    "ndcg",
    "precision",
    "r_precision",
    "ranking_metric",
    "recall",
    "reciprocal_rank",
    "success",
]


_BY_EVIDENCE = Score.not_applicable("judged_by_evidence")


def ndcg(sample: Sample, k: int | None = None) -> Score:
    """Score how high the most relevant documents are ranked.

    Formula: DCG of the first k ranks (all ranks without k) / the highest DCG that the judged documents allow; DCG is
    the sum of grade / log2(rank + 1).
    Range: 0..1, higher is better. Empty input: an empty ranking, or nothing relevant, scores 0; no qrels is not
    applicable; no ranking has the reason no_ranking.
    Source: trec_eval's ndcg and ndcg_cut; Järvelin and Kekäläinen, TOIS 2002.
    """
    return TREC_EVAL.score(sample, "ndcg" if k is None else "ndcg_cut", k)


def average_precision(sample: Sample, k: int | None = None) -> Score:
    """Score the precision at the ranks of the relevant documents.

    Formula: sum of the precision at each rank (of the first k) with a relevant document / relevant documents.
    Range: 0..1, higher is better. Empty input: an empty ranking, or nothing relevant, scores 0; no qrels is not
    applicable; no ranking has the reason no_ranking.
    Source: trec_eval's map and map_cut.
    """
    return TREC_EVAL.score(sample, "map" if k is None else "map_cut", k)


def reciprocal_rank(sample: Sample, k: int | None = None) -> Score:
    """Score how high the first relevant document is ranked.

    Formula: 1 / the rank of the first relevant document; 0 without one (in the first k ranks).
    Range: 0..1, higher is better. Empty input: an empty ranking scores 0; no qrels is not applicable; no
    ranking has the reason no_ranking.
    Source: trec_eval's recip_rank; with a cutoff, MS MARCO's (Nguyen et al., 2016).
    """
    score = TREC_EVAL.score(sample, "recip_rank")
    return Score(0.0) if k is not None and score.value and round(1 / score.value) > k else score


def precision(sample: Sample, k: int | None) -> Score:
    """Score the share of the first k ranks with a relevant document.

    Formula: relevant documents in the first k ranks / k, even if the ranking is shorter.
    Range: 0..1, higher is better. Empty input: an empty ranking scores 0; no qrels is not applicable; no
    ranking has the reason no_ranking.
    Source: trec_eval's P.
    """
    return TREC_EVAL.score(sample, "P", k)


def recall(sample: Sample, k: int | None) -> Score:
    """Score the share of the relevant documents that are in the first k ranks.

    Formula: relevant documents in the first k ranks / relevant documents. By evidence: units that the first k ranks
    hold / units (`evidence_ranks`).
    Range: 0..1, higher is better. Empty input: an empty ranking, or nothing relevant, scores 0; no qrels is not
    applicable; no ranking has the reason no_ranking.
    Source: trec_eval's recall; by evidence ours.
    """
    if by_evidence(sample.case):
        ranks = evidence_ranks(sample)
        return ranks if isinstance(ranks, Score) else Score(max(each.recall(k) for each in ranks))
    return TREC_EVAL.score(sample, "recall", k)


def success(sample: Sample, k: int | None) -> Score:
    """Score whether a relevant document is in the first k ranks.

    Formula: 1 if a relevant document is in the first k ranks, else 0.
    Range: 0 or 1, higher is better. Empty input: an empty ranking scores 0; no qrels is not applicable; no
    ranking has the reason no_ranking.
    Source: trec_eval's success.
    """
    return TREC_EVAL.score(sample, "success", k)


def r_precision(sample: Sample, k: int | None = None) -> Score:
    """Score the precision at rank R, the number of relevant documents.

    Formula: relevant documents in the first R ranks / R.
    Range: 0..1, higher is better. Empty input: an empty ranking, or nothing relevant, scores 0; no qrels is not
    applicable; no ranking has the reason no_ranking.
    Source: trec_eval's Rprec.
    """
    return TREC_EVAL.score(sample, "Rprec")


def judged(sample: Sample, k: int | None = None) -> Score:
    """Score the share of judged documents in the first k ranks, which shows how reliable the other metrics are.

    Formula: documents of the first k ranks with a grade (0 included) / the smaller of k and the length of the ranking.
    Range: 0..1, higher is better. Empty input: an empty ranking scores 0; not applicable without qrels, and with
    evidence, which judges every passage; no ranking has the reason no_ranking.
    Source: ir_measures' Judged (MacAvaney et al., ECIR 2022), with trec_eval's order of equal scores.
    """
    if by_evidence(sample.case):
        return _BY_EVIDENCE
    judgement = judgements(sample)
    if isinstance(judgement, Score):
        return judgement
    qrels, ranking = judgement
    top = by_rank(ranking)[:k]
    return Score(sum(item.doc_id in qrels for item in top) / len(top) if top else 0.0)


MEASURES: dict[str, Measure] = {
    "AP": Measure(average_precision, whole=True, needs_all=True),
    "Judged": Measure(judged, whole=True),
    "P": Measure(precision),
    "R": Measure(recall, needs_all=True),
    "RR": Measure(reciprocal_rank, whole=True),
    "Rprec": Measure(r_precision, whole=True, cuts=False, needs_all=True),
    "Success": Measure(success, binary=True),
    "nDCG": Measure(ndcg, whole=True, needs_all=True),
}


def ranking_metric(name: str, head: str, get: Callable[[str], Metric]) -> Metric:
    """Return the metric of a name such as ``nDCG@10`` or ``AP``; raise `SettingError` if the cutoff is invalid."""
    metric = cut(name, head, MEASURES[head])
    TREC_EVAL.prepare()
    return metric
