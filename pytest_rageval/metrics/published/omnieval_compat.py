"""Retrieval and answers as OmniEval scores them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from pytest_rageval.metrics.answers.containment import NO_GOLD
from pytest_rageval.metrics.answers.squad import nearest, published_normal, references, shared
from pytest_rageval.metrics.rankings.relevance import judgement_sets
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.ranking import Ranking
from pytest_rageval.model.sample import Sample
from pytest_rageval.text.words import once_a_text, tokens

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

    Formula: mean over the references (as in `squad.exact_match`) of 1 where both are equal in lower case without ASCII
    punctuation, English articles and runs of white space, else 0: unlike `exact_match`, further spellings of the gold
    answer lower it, punctuation that is not ASCII and widths have to be the same, and 1.5% equals 15%.
    Range: 0..1, higher is better. Empty input: both normalise to nothing 1, one of them 0; no gold is not applicable.
    Source: OmniEval (Wang et al., 2024), its EM.
    """
    if not sample.case.instance.gold:
        return NO_GOLD
    spellings, answer = references(sample), published_normal(sample.answer.text)
    equal = sum(published_normal(spelling) == answer for spelling in spellings)
    return Score(equal / len(spellings) if spellings else 0.0)


def omnieval_f1_compat(sample: Sample) -> Score:
    """Score the overlap of characters between the answer and the nearest reference.

    Formula: max over the references (as in `squad.exact_match`) of 2PR / (P + R), P and R the share of the answer's and
    of the reference's characters that are in both, counted with multiplicity. Both are normalised as in
    `omnieval_em_compat` and then written as jieba's tokens with a space between two, which are characters as all
    others: unlike `token_f1`, texts without a word in common have a value.
    Range: 0..1, higher is better. Empty input: an answer or a reference that normalises to nothing 0; no gold is not
    applicable.
    Source: OmniEval (Wang et al., 2024), its F1.
    """
    return nearest(sample, _f1)


def omnieval_map_compat(sample: Sample) -> Score:
    """Score the precision at the ranks of what is relevant, over what was found of it.

    Formula: sum of the precision at each rank that has a relevant document / the number of such ranks: unlike `AP`,
    what was missed costs nothing. Ranks are those of the answer, whatever the scores, and a document that stands there
    again is a hit again. Of alternatives of a record's evidence it is the greatest.
    Range: 0..1, higher is better. Empty input: an empty ranking, or one without a hit, scores 0; no qrels or no ranking
    is not applicable.
    Source: OmniEval (Wang et al., 2024), its MAP.
    """
    found = judgement_sets(sample)
    if isinstance(found, Score):
        return found
    alternatives, ranking = found
    return Score(max(_map(qrels, ranking) for qrels in alternatives))


def _map(qrels: Mapping[str, int], ranking: Ranking) -> float:
    ranks = [rank for rank, name in enumerate(ranking.doc_ids, 1) if qrels.get(name, 0) > 0]
    return sum(hits / rank for hits, rank in enumerate(ranks, 1)) / len(ranks) if ranks else 0.0


@once_a_text
def _characters(text: str) -> Counter[str]:
    return Counter(" ".join(tokens(published_normal(text))))


def _f1(answer: str, reference: str) -> float:
    ours, theirs = _characters(answer), _characters(reference)
    both = shared(ours, theirs)
    return 2 * both / (ours.total() + theirs.total()) if both else 0.0


OMNIEVAL_EM_COMPAT = Metric("omnieval_em_compat", omnieval_em_compat)
OMNIEVAL_F1_COMPAT = Metric("omnieval_f1_compat", omnieval_f1_compat)
OMNIEVAL_MAP_COMPAT = Metric("omnieval_map_compat", omnieval_map_compat, of="retrieval")
