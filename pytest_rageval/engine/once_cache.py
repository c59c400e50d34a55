"""Cache the answers of a system, so that each question is asked once, also across processes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_rageval.engine.answerers import SystemAnswerer
from pytest_rageval.engine.shared_answers import SharedAnswers
from pytest_rageval.errors import CaseError
from pytest_rageval.llm.client.usage_meter import SCOPE, Meter, current
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case

if TYPE_CHECKING:
    import asyncio

__all__ = ["OnceCache"]


class OnceCache:
    """Asks a system the same query once in each repeat, also for concurrent requests.

    The cache lives as long as the system. The first case that asks is charged.

    Args:
        answerer: calls the system.
        shared: answers that processes with the same system share; None if there is only one process.
        known: (case, repeat, answer) of an earlier session.
    """

    def __init__(
        self,
        answerer: SystemAnswerer,
        shared: SharedAnswers | None = None,
        known: Iterable[tuple[Case, int, Answer]] = (),
    ) -> None:
        self._answerer = answerer
        self._shared = shared
        self._known = {_key(case, repeat): answer for case, repeat, answer in known}
        self._asking: dict[str, asyncio.Future[None]] = {}

    @property
    def overlap(self) -> bool:
        """Whether several calls run on the event loop at a time: the system is async."""
        return self._answerer.waits

    def __call__(self, case: Case, why: str = "") -> Answer:
        """Return the answer to a case; call the system in this thread. An error's message ends with ``why``."""
        key = _key(case, current().repeat)
        if key not in self._known:
            with nullcontext() if self._shared is None else self._shared.lock(key):
                answer = self._find_shared(key)
                if answer is None:
                    with _separate_meter(why, self._journal_key(key)):
                        answer = self._answerer(case)
                self._store(key, answer)
        return self._known[key]

    async def ahead(self, case: Case, why: str = "") -> Answer:
        """Return the answer to a case; call the system on the event loop. An error's message ends with ``why``."""
        import asyncio

        key = _key(case, current().repeat)
        while key not in self._known:
            if key in self._asking:
                await asyncio.shield(self._asking[key])  # if that call fails, this one calls the system
                continue
            ended = self._asking[key] = asyncio.get_running_loop().create_future()
            try:
                async with nullcontext() if self._shared is None else self._shared.lock_ahead(key):
                    answer = self._find_shared(key)
                    if answer is None:
                        with _separate_meter(why, self._journal_key(key)):
                            answer = await self._answerer.ahead(case)
                    self._store(key, answer)
            finally:
                del self._asking[key]
                ended.set_result(None)
        return self._known[key]

    def learn(self, case: Case, repeat: int, answer: Answer) -> None:
        """Store the answer to a case that was asked elsewhere in this process."""
        self._known[_key(case, repeat)] = answer

    def forget(self, case: Case) -> None:
        """Remove the answer to a case; the next request asks again."""
        key = _key(case, current().repeat)
        self._known.pop(key, None)
        if self._shared is not None:
            self._shared.forget(key)

    def _journal_key(self, key: str) -> str:
        """Return the key of a question to this system in the journal."""
        return f"{self._answerer.origin}-{key}"

    def _find_shared(self, key: str) -> Answer | None:
        return None if self._shared is None else self._shared.find(key)

    def _store(self, key: str, answer: Answer) -> None:
        self._known[key] = answer
        if self._shared is not None:
            self._shared.store(key, answer)


def _key(case: Case, repeat: int) -> str:
    """Return the cache key of a query in a repeat."""
    query = repr(case.query).encode("utf-8", "surrogatepass")
    return f"{hashlib.sha256(query).hexdigest()}-{repeat}"


@contextmanager
def _separate_meter(why: str, key: str) -> Iterator[None]:
    """Charge a separate meter, then the case's: an answerer reads from the meter which calls its system made.

    Raises:
        CaseError: the system has failed; the message ends with ``why``.
    """
    outer, own = current(), Meter()
    journal = None if outer.journal is None else outer.journal.with_key(key)
    before = SCOPE.set(replace(outer, meter=own, journal=journal))
    try:
        yield
    except CaseError as error:
        if not why:
            raise
        raise CaseError(error.kind, f"{error}\n({why})") from error
    finally:
        SCOPE.reset(before)
        outer.meter.add(own.calls)
        for key in own.keys:
            outer.meter.use(key, replayed=own.replayed)
