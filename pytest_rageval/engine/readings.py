"""What a system answers from each retrieved document alone: eRAG's question, asked once for each query and document."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_rageval.engine.answerers import SystemAnswerer
from pytest_rageval.errors import CaseError, found
from pytest_rageval.llm.meter import SCOPE, Meter, current
from pytest_rageval.metrics.retrieved import by_rank, supplied_of
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case
from pytest_rageval.model.ranking import Ranking

if TYPE_CHECKING:
    import asyncio

__all__ = ["Reading", "Readings"]

_Key = tuple[bytes, int]


@dataclass(frozen=True, slots=True)
class Reading:
    """A case with one document for its passages, and the answer to it; None where the document's text is not known."""

    case: Case
    answer: Answer | None


class Readings:
    """Asks a system from one document at a time.

    An answer is kept for as long as the system lasts: the same document to the same query, in the same repeat, is asked
    for once, also when it is wanted twice at the same time. What it takes is charged to the case that asked first.
    """

    def __init__(self, answerer: SystemAnswerer) -> None:
        self._answerer = answerer
        self._known: dict[_Key, Answer] = {}
        self._asking: dict[_Key, asyncio.Future[None]] = {}

    @property
    def overlap(self) -> bool:
        """Whether the documents of a case are asked for on the event loop, all at a time: the system is async."""
        return self._answerer.waits

    def __call__(self, case: Case, ranking: Ranking) -> Mapping[str, Reading]:
        """Return the readings of a ranking by document id, asked for in this thread one after the other.

        Raises:
            CaseError: the ranking is malformed, or there is no answer from a document.
        """
        alone = _alone(case, ranking)
        if alone is None:
            return _unread(case, ranking)
        return {name: Reading(each, self._answer(name, each)) for name, each in alone.items()}

    async def ahead(self, case: Case, ranking: Ranking) -> Mapping[str, Reading]:
        """Return the same, asked for on the event loop as many at a time as the system and its model bear.

        Where one fails the others end first: what they bring is paid for, and recorded.
        """
        import asyncio

        alone = _alone(case, ranking)
        if alone is None:
            return _unread(case, ranking)
        asking = (self._answer_ahead(name, each) for name, each in alone.items())
        answers = await asyncio.gather(*asking, return_exceptions=True)
        readings: dict[str, Reading] = {}
        for (name, each), answer in zip(alone.items(), answers, strict=True):
            if isinstance(answer, BaseException):
                raise answer
            readings[name] = Reading(each, answer)
        return readings

    def _answer(self, name: str, case: Case) -> Answer:
        key = _key(case)
        if key not in self._known:
            with _asked_for(name):
                self._known[key] = self._answerer(case)
        return self._known[key]

    async def _answer_ahead(self, name: str, case: Case) -> Answer:
        import asyncio

        key = _key(case)
        while key not in self._known:
            if key in self._asking:
                await asyncio.shield(self._asking[key])  # who waited for one that failed asks for itself
                continue
            ended = self._asking[key] = asyncio.get_running_loop().create_future()
            try:
                with _asked_for(name):
                    self._known[key] = await self._answerer.ahead(case)
            finally:
                del self._asking[key]
                ended.set_result(None)
        return self._known[key]


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


def _key(case: Case) -> _Key:
    """Return what tells a query with its document from every other, in the repeat that is asked for."""
    said = repr(case.query).encode("utf-8", "surrogatepass")
    return hashlib.sha256(said).digest(), current().repeat


@contextmanager
def _asked_for(name: str) -> Iterator[None]:
    """Charge a meter of its own first, as an answerer knows by its meter what its system has asked; name the document.

    Raises:
        CaseError: the system has failed; its message says from which document.
    """
    outer, own = current(), Meter()
    before = SCOPE.set(replace(outer, meter=own))
    try:
        yield
    except CaseError as error:
        raise CaseError(error.kind, f"{error}\n(asked from the document {found(name)} alone)") from error
    finally:
        SCOPE.reset(before)
        outer.meter.add(own.calls)
        for key in own.keys:
            outer.meter.use(key, replayed=own.replayed)
