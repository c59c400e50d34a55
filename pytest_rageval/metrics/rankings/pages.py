"""Page metrics: compare the retrieved pages with evidence sets, by KILT's rules.

A page has the rank of its first passage. An evidence set is a list of pages that together prove the answer. The sets of
a case are the pages of each alternative of its ``evidence``, else the alternative sets of its ``provenance``, else one
set: the pages of its relevant qrels. If no alternative of the evidence is in the corpus, there is no value.
"""

from __future__ import annotations

from collections.abc import Callable

from pytest_rageval.metrics.rankings.cutoffs import Measure, cut
from pytest_rageval.metrics.rankings.evidence_ranks import NOT_IN_CORPUS, known_evidence
from pytest_rageval.metrics.rankings.ranked_passages import NO_RANKING, by_rank
from pytest_rageval.model.case import Case
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.ranking import Ranking, page_of
from pytest_rageval.model.sample import Sample

__all__ = [
    "MEASURES",
    "NO_PROVENANCE",
    "PAGE_RPREC",
    "evidence_sets",
    "page_metric",
    "page_precision",
    "page_r_precision",
    "page_recall",
    "page_success",
]

NO_PROVENANCE = Score.not_applicable("no_provenance")

Sets = tuple[frozenset[str], ...]
"""Evidence sets: the page ids of each."""


def page_r_precision(sample: Sample) -> Score:
    """Score how much of an evidence set is at the top of the ranking.

    Formula: max over the evidence sets of (its pages in the first R pages / R); R is the number of its pages.
    Range: 0..1, higher is better. Empty input: an empty ranking or evidence set scores 0; a case without provenance and
    qrels is not applicable; no ranking has the reason no_ranking.
    Source: KILT (Petroni et al., NAACL 2021), R-precision.
    """
    return _score(sample, lambda pages, sets: max(_r_precision(pages, each) for each in sets))


def page_precision(sample: Sample, k: int | None) -> Score:
    """Score the share of the first k entries that complete an evidence set.

    Formula: evidence sets complete in the first k entries / k. The retrieved pages of one evidence set form one entry,
    at the rank of the last of them; each other page is one entry.
    Range: 0..1, higher is better. Empty input: an empty ranking scores 0; a case without provenance and qrels is not
    applicable; no ranking has the reason no_ranking.
    Source: KILT (Petroni et al., NAACL 2021), precision@k.
    """
    return _score(sample, lambda pages, sets: _n_complete(pages, sets, k) / (k or 1))


def page_recall(sample: Sample, k: int | None) -> Score:
    """Score the share of the evidence sets that are complete in the first k entries.

    Formula: evidence sets complete in the first k entries / distinct evidence sets; entries as in `page_precision`.
    Range: 0..1, higher is better. Empty input: an empty ranking scores 0, an empty set is never complete; a case
    without provenance and qrels is not applicable; no ranking has the reason no_ranking.
    Source: KILT (Petroni et al., NAACL 2021), recall@k.
    """
    return _score(sample, lambda pages, sets: _n_complete(pages, sets, k) / len(sets))


def page_success(sample: Sample, k: int | None) -> Score:
    """Score whether an evidence set is complete in the first k entries.

    Formula: 1 if an evidence set is complete in the first k entries, else 0; entries as in `page_precision`.
    Range: 0 or 1, higher is better. Empty input: an empty ranking scores 0; a case without provenance and qrels is not
    applicable; no ranking has the reason no_ranking.
    Source: KILT (Petroni et al., NAACL 2021), success rate@k.
    """
    return _score(sample, lambda pages, sets: float(_n_complete(pages, sets, k) > 0))


def evidence_sets(case: Case) -> Sets:
    """Return the distinct evidence sets of a case, in order; none without judgements."""
    if case.instance.evidence:
        known = known_evidence(case)
        units = case.instance.evidence if isinstance(known, Score) else known
        return tuple(dict.fromkeys(frozenset(unit.page for unit in each) for each in units))
    if case.instance.provenance:
        return tuple(dict.fromkeys(frozenset(pages) for pages in case.instance.provenance))
    qrels = case.qrels
    relevant = frozenset(page_of(name) for name, grade in qrels.items() if grade > 0)
    return (relevant,) if qrels else ()


def _score(sample: Sample, value: Callable[[list[str], Sets], float]) -> Score:
    if sample.case.instance.evidence and known_evidence(sample.case) is NOT_IN_CORPUS:
        return NOT_IN_CORPUS
    sets, ranking = evidence_sets(sample.case), sample.answer.ranking
    if not sets:
        return NO_PROVENANCE
    return NO_RANKING if ranking is None else Score(value(_pages(ranking), sets))


def _pages(ranking: Ranking) -> list[str]:
    """Return the pages of a ranking, each at the rank of its first passage."""
    return list(dict.fromkeys(item.page_id for item in by_rank(ranking)))


def _r_precision(pages: list[str], evidence: frozenset[str]) -> float:
    return len(evidence.intersection(pages[: len(evidence)])) / len(evidence) if evidence else 0.0


def _n_complete(pages: list[str], sets: Sets, k: int | None) -> int:
    """Return how many evidence sets are complete in the first k entries (see `page_precision`).

    A page of two sets belongs to the entries of both.
    """
    entries: list[tuple[int, bool]] = []  # (index of the set or -1, whether the set is complete)
    missing = [set(each) for each in sets]
    for page in pages:
        sets_of_page = [index for index, each in enumerate(missing) if page in each]
        for index in sets_of_page:
            missing[index].remove(page)
            entries = [entry for entry in entries if entry[0] != index]
            entries.append((index, not missing[index]))
        if not sets_of_page:
            entries.append((-1, False))
    return sum(complete for _, complete in entries[:k])


MEASURES: dict[str, Measure] = {
    "page_P": Measure(page_precision),
    "page_R": Measure(page_recall),
    "page_Success": Measure(page_success, binary=True),
}

PAGE_RPREC = Metric("page_Rprec", page_r_precision, of="retrieval")


def page_metric(name: str, head: str, get: Callable[[str], Metric]) -> Metric:
    """Return the metric of a name such as ``page_R@5``; raise `SettingError` if the cutoff is invalid."""
    return cut(name, head, MEASURES[head])
