"""What a system answers from each retrieved document alone: eRAG's question, asked once for each query and document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pytest_rageval.engine.answerers import SystemAnswerer
from pytest_rageval.engine.once_cache import Remembered
from pytest_rageval.errors import CaseError, found
from pytest_rageval.metrics.rankings.retrieved import by_rank, supplied_of
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case
from pytest_rageval.model.ranking import Ranking

__all__ = ["Reading", "Readings"]


@dataclass(frozen=True, slots=True)
class Reading:
    """A case with one document for its passages, and the answer to it; None where the document's text is not known."""

    case: Case
    answer: Answer | None


class Readings:
    """Asks a system from one document at a time, and from the same document for the same query once."""

    def __init__(self, answerer: SystemAnswerer) -> None:
        self._answers = Remembered(answerer)

    @property
    def overlap(self) -> bool:
        """Whether the documents of a case are asked for on the event loop, all at a time: the system is async."""
        return self._answers.overlap

    def __call__(self, case: Case, ranking: Ranking) -> Mapping[str, Reading]:
        """Return the readings of a ranking by document id, asked for in this thread one after the other.

        Raises:
            CaseError: the ranking is malformed, or there is no answer from a document.
        """
        alone = _alone(case, ranking)
        if alone is None:
            return _unread(case, ranking)
        return {name: Reading(each, self._answers(each, _why(name))) for name, each in alone.items()}

    async def ahead(self, case: Case, ranking: Ranking) -> Mapping[str, Reading]:
        """Return the same, asked for on the event loop as many at a time as the system and its model bear.

        Where one fails the others end first: what they bring is paid for, and recorded.
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
    """Return the case with each document alone, best first; None where the text of one is not known."""
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
    return f"asked from the document {found(name)} alone"
