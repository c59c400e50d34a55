"""Find the ranks of evidence units in a ranking, and grade its passages by them.

A place of a unit is one occurrence of it in the corpus. A passage of the same document holds the overlap of its span
and the place. A passage without a known span holds the longest run of characters that it shares with the folded text of
the place, if the run is half of the place or at least `MIN_RUN` code points (a Han character counts twice). Shorter
runs do not count, because texts of one page share them by chance. Such a passage counts for units of its page or, if it
names no page of the corpus, for any unit.

r(u), the rank of unit u, is the first rank r at which the passages 1..r together hold half of one place of u, counted
in code points that are not white space. It is infinite if u is not found. A passage is relevant if r(u) is its rank for
some u; its grade is the highest grade of these units.

R@k is the share of units with r(u) <= k. Success@k, RR, P@k, AP, nDCG@k and Rprec are trec_eval's, over the relevant
passages and, for each unit that is not found, one missed document with the grade of the unit. With alternatives, each
metric takes its maximum. If each unit lies in exactly one passage, and each passage has one unit, the values equal
those of qrels over these passages.

Worked examples, with the unit "The museum opens at nine" (20 code points that are not white space; half are 10):

A chunk border cuts the quote. Rank 1 ends in "... The museum" (9 of 20), rank 2 begins with "opens at nine" (11 of
20). Rank 1 alone holds less than half, ranks 1 and 2 together hold all: r = 2. R@1 = 0, R@2 = 1, RR = 1/2. In the
reverse order r = 1, because 11 is more than half. R@1 = 1, RR = 1.

Two chunks overlap. Both hold the whole quote, at ranks 2 and 3: r = 2, and rank 3 is not relevant, because it
only repeats the quote. R@2 = 1, RR = 1/2, P@3 = 1/3, AP = 1/2. With qrels over both chunks R@2 would be 1/2.

One chunk has two units. Rank 1 holds both, so r = 1 for both: R@1 = 1, and rank 1 is one relevant passage, so P@2 = 1/2
and Rprec = 1. Its grade is the higher one of the two. If rank 1 holds only one of them, and the other is not found,
there are two relevant documents: R@5 = 1/2, AP = 1/2, Rprec = 1/2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pytest_rageval.metrics.rankings.evidence_passages import RetrievedPassage, retrieved_passages
from pytest_rageval.metrics.rankings.ranked_passages import NO_RANKING, NO_TEXTS, by_rank
from pytest_rageval.model.case import Case
from pytest_rageval.model.evidence import Evidence, EvidencePlace, EvidenceUnit, LocatedEvidence
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.ranking import Ranking
from pytest_rageval.model.sample import Sample

__all__ = ["NEEDS_CORPUS", "NOT_IN_CORPUS", "UnitRanks", "evidence_ranks", "known_evidence", "texts_of_incomplete_unit"]

NOT_IN_CORPUS = Score(reason="evidence_not_in_corpus")
"""The reason if no alternative of the evidence is completely in the corpus."""

NEEDS_CORPUS = Score(reason="evidence_needs_corpus")
"""The reason if the evidence consists of document spans, and no corpus was read."""


@dataclass(frozen=True, slots=True)
class UnitRanks:
    """The ranks of the units of one alternative of the evidence in a ranking.

    Attributes:
        ranks: (unit, r(u)) for each unit; r(u) is None if the unit was not found.
        ranking: the ids of the retrieved passages, best first.
    """

    ranks: tuple[tuple[EvidenceUnit, int | None], ...]
    ranking: tuple[str, ...]

    def recall(self, k: int | None = None) -> float:
        """Return the share of units found in the first k ranks."""
        return sum(rank is not None and (k is None or rank <= k) for _, rank in self.ranks) / len(self.ranks)

    @property
    def grades(self) -> dict[str, int]:
        """The grades of relevant passages by id; a unit that was not found has an id that no passage has."""
        grades: dict[str, int] = {}
        for number, (unit, rank) in enumerate(self.ranks):
            name = f"\0{number}" if rank is None else self.ranking[rank - 1]
            grades[name] = max(grades.get(name, 0), unit.grade)
        return grades


def known_evidence(case: Case) -> Evidence | Score:
    """Return the alternatives of a case's evidence that can judge a ranking, or why there is none.

    With a corpus, all units of such an alternative are in the corpus. Without one, no unit is a document span.
    """
    alternatives = case.instance.evidence
    if case.located is None:
        known = tuple(each for each in alternatives if all(unit.span is None for unit in each))
        return known or NEEDS_CORPUS
    places = case.located.places
    return tuple(each for each in alternatives if all(unit in places for unit in each)) or NOT_IN_CORPUS


def evidence_ranks(sample: Sample) -> tuple[UnitRanks, ...] | Score:
    """Return the ranks of the units, for each alternative of a case's evidence, or why they are unknown."""
    case, ranking = sample.case, sample.answer.ranking
    latest, ranks = _LATEST[0]
    if latest is not None and latest[0] is case and latest[1] is ranking:
        return ranks
    ranks = _ranks(case, ranking)
    _LATEST[0] = (case, ranking), ranks
    return ranks


_LATEST: list[tuple[tuple[Case, Ranking | None] | None, tuple[UnitRanks, ...] | Score]] = [(None, ())]
"""The ranks of the latest case and ranking, cached because every metric of a case needs them."""


def _ranks(case: Case, ranking: Ranking | None) -> tuple[UnitRanks, ...] | Score:
    alternatives = known_evidence(case)
    if isinstance(alternatives, Score):
        return alternatives
    if ranking is None:
        return NO_RANKING
    units = {unit for alternative in alternatives for unit in alternative}
    retrieved = _retrieved(case, ranking, units)
    if retrieved is None:
        return NO_TEXTS
    ranks = {unit: _rank(case.located, unit, retrieved) for unit in units}
    ids = tuple(passage.id for passage in retrieved)
    return tuple(UnitRanks(tuple((unit, ranks[unit]) for unit in each), ids) for each in alternatives)


def _retrieved(case: Case, ranking: Ranking, units: Iterable[EvidenceUnit]) -> list[RetrievedPassage] | None:
    pages = {name for unit in units for place in _places(case.located, unit) for name in (unit.page, place.document)}
    return retrieved_passages(by_rank(ranking), case.located, pages)


def texts_of_incomplete_unit(case: Case, ranking: Ranking, unit: EvidenceUnit) -> list[str]:
    """Return the texts of a unit's places; [] if the passages of a ranking together hold one whole place."""
    retrieved = _retrieved(case, ranking, [unit]) or []
    places = list(_places(case.located, unit))
    is_whole = any(_first_rank(unit.page, place, retrieved, share=1) is not None for place in places)
    return [] if is_whole else [place.text for place in places]


def _rank(located: LocatedEvidence | None, unit: EvidenceUnit, retrieved: Sequence[RetrievedPassage]) -> int | None:
    ranks = [rank for place in _places(located, unit) if (rank := _first_rank(unit.page, place, retrieved)) is not None]
    return min(ranks, default=None)


def _places(located: LocatedEvidence | None, unit: EvidenceUnit) -> Iterator[EvidencePlace]:
    """Yield the places of a unit; without a corpus, its quote is its only place."""
    if located is None:
        yield EvidencePlace(unit.page, (0, len(unit.quote)), unit.quote)
    else:
        yield from located.places[unit]


def _first_rank(
    page: str, place: EvidencePlace, retrieved: Sequence[RetrievedPassage], share: float = 0.5
) -> int | None:
    """Return the first rank at which the passages together hold this share of a place."""
    is_solid = [not character.isspace() for character in place.text]
    is_held, minimum = bytearray(len(is_solid)), sum(is_solid) * share
    for rank, passage in enumerate(retrieved, 1):
        begin, end = passage.held_span(page, place)
        if begin < end:
            is_held[begin:end] = b"\1" * (end - begin)
            if sum(map(int.__and__, is_held, is_solid)) >= minimum:
                return rank
    return None
