"""Retrieval and answer metrics with the values of OmniEval's published code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from pytest_rageval.metrics.answers.containment import NO_GOLD
from pytest_rageval.metrics.answers.squad import best_score, count_shared, published_normal, references
from pytest_rageval.metrics.rankings.relevance import judgement_sets
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.ranking import Ranking
from pytest_rageval.model.sample import Sample
from pytest_rageval.text.words import cached_per_text, tokens

__all__ = [
    "OMNIEVAL_EM_COMPAT",
    "OMNIEVAL_F1_COMPAT",
    "OMNIEVAL_MAP_COMPAT",
    "omnieval_em_compat",
    "omnieval_f1_compat",
    "omnieval_map_compat",
]


def omnieval_em_compat(sample: Sample) -> Score:
    """Score how many of the references the answer equals.

    Formula: mean over the references (as in `squad.exact_match`) of 1 if both are equal in lower case without ASCII
    punctuation, English articles and runs of white space, else 0. Unlike with `exact_match`, additional aliases of the
    gold answer lower the value, non-ASCII punctuation and character widths must be equal, and 1.5% equals 15%.
    Range: 0..1, higher is better. Empty input: both normalise to nothing 1, one of them 0; no gold is not applicable.
    Source: OmniEval (Wang et al., 2024), its EM.
    """
    if not sample.case.instance.gold:
        return NO_GOLD
    texts, answer = references(sample), published_normal(sample.answer.text)
    equal = sum(published_normal(text) == answer for text in texts)
    return Score(equal / len(texts) if texts else 0.0)


def omnieval_f1_compat(sample: Sample) -> Score:
    """Score the overlap of characters between the answer and the nearest reference.

    Formula: max over the references (as in `squad.exact_match`) of 2PR / (P + R); P and R are the shares of the
    answer's and of the reference's characters that are in both, counted with multiplicity. Both are normalised as in
    `omnieval_em_compat`, then cut by jieba and joined with spaces, which count as characters. Unlike with `token_f1`,
    texts without a common word can score above 0.
    Range: 0..1, higher is better. Empty input: an answer or a reference that normalises to nothing 0; no gold is not
    applicable.
    Source: OmniEval (Wang et al., 2024), its F1.
    """
    return best_score(sample, _f1)


def omnieval_map_compat(sample: Sample) -> Score:
    """Score the mean precision at the ranks of the retrieved relevant documents.

    Formula: sum of the precision at each rank with a relevant document / the number of such ranks. Unlike with `AP`,
    missed documents do not lower the value. Ranks follow the order of the ranking, not its scores, and a
    repeated document is another hit. If the evidence has alternatives, the maximum over them.
    Range: 0..1, higher is better. Empty input: an empty ranking, or one without a hit, scores 0; no qrels is not
    applicable; no ranking has the reason no_ranking.
    Source: OmniEval (Wang et al., 2024), its MAP.
    """
    judged = judgement_sets(sample)
    if isinstance(judged, Score):
        return judged
    alternatives, ranking = judged
    return Score(max(_mean_precision(qrels, ranking) for qrels in alternatives))


def _mean_precision(qrels: Mapping[str, int], ranking: Ranking) -> float:
    ranks = [rank for rank, name in enumerate(ranking.doc_ids, 1) if qrels.get(name, 0) > 0]
    return sum(hits / rank for hits, rank in enumerate(ranks, 1)) / len(ranks) if ranks else 0.0


@cached_per_text
def _characters(text: str) -> Counter[str]:
    """Return the characters of a normalised text with their counts."""
    return Counter(" ".join(tokens(published_normal(text))))


def _f1(answer: str, reference: str) -> float:
    answer_counts, reference_counts = _characters(answer), _characters(reference)
    n_shared = count_shared(answer_counts, reference_counts)
    return 2 * n_shared / (answer_counts.total() + reference_counts.total()) if n_shared else 0.0


OMNIEVAL_EM_COMPAT = Metric("omnieval_em_compat", omnieval_em_compat)
OMNIEVAL_F1_COMPAT = Metric("omnieval_f1_compat", omnieval_f1_compat)
OMNIEVAL_MAP_COMPAT = Metric("omnieval_map_compat", omnieval_map_compat, of="retrieval")
