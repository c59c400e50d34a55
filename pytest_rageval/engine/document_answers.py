"""Ask a system from each retrieved document alone, as in eRAG; cache by query and document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pytest_rageval.engine.answerers import SystemAnswerer
from pytest_rageval.engine.once_cache import OnceCache
from pytest_rageval.errors import CaseError, short_repr
from pytest_rageval.metrics.rankings.retrieved import by_rank, supplied_of
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case
from pytest_rageval.model.ranking import Ranking

__all__ = ["Reading", "Readings"]


@dataclass(frozen=True, slots=True)
class Reading:
    """A case with a single document as its passages, and its answer; None if the document's text is unknown."""

    case: Case
    answer: Answer | None


class Readings:
    """Asks a system from one document at a time, and only once for the same document and query."""

    def __init__(self, answerer: SystemAnswerer) -> None:
        self._answers = OnceCache(answerer)

    @property
    def overlap(self) -> bool:
        """Whether the documents of a case are asked on the event loop, all at once: the system is async."""
        return self._answers.overlap

    def __call__(self, case: Case, ranking: Ranking) -> Mapping[str, Reading]:
        """Return the readings of a ranking by document id; ask in this thread, one after the other.

        Raises:
            CaseError: the ranking is malformed, or the system fails on a document.
        """
        alone = _alone(case, ranking)
        if alone is None:
            return _unread(case, ranking)
        return {name: Reading(each, self._answers(each, _why(name))) for name, each in alone.items()}

    async def ahead(self, case: Case, ranking: Ranking) -> Mapping[str, Reading]:
        """Return the same, but ask on the event loop, as many at a time as the limits of system and model allow.

        If one fails, the others still end first: their replies are paid for, and are recorded.
        """
        import asyncio

        alone = _alone(case, ranking)
        if alone is None:
            return _unread(case, ranking)
        asking = (self._answers.ahead(each, _why(name)) for name, each in alone.items())
        answers = await asyncio.gather(*asking, return_exceptions=True)
        readings: dict[str, Reading] = {}
        for (name, each), answer in zip(alone.items(), answers, strict=True):
            if isinstance(answer, BaseException):
                raise answer
            readings[name] = Reading(each, answer)
        return readings


def _alone(case: Case, ranking: Ranking) -> dict[str, Case] | None:
    """Return the case with each document alone, best first; None if the text of any is unknown."""
    try:
        ranked = by_rank(ranking)
    except CaseError as error:
        raise CaseError(error.kind, f"case {case.id!r}: {error}") from error
    passages = [supplied_of(item, case.instance) for item in ranked]
    alone = {passage.id: replace(case, supplied=(passage,)) for passage in passages if passage is not None}
    return alone if len(alone) == len(passages) else None


def _unread(case: Case, ranking: Ranking) -> dict[str, Reading]:
    return {name: Reading(case, None) for name in ranking.doc_ids}


def _why(name: str) -> str:
    return f"asked from the document {short_repr(name)} alone"
