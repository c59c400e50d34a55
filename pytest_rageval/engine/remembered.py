"""Answers that are asked for once, however many want them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_rageval.engine.answerers import SystemAnswerer
from pytest_rageval.errors import CaseError
from pytest_rageval.llm.meter import SCOPE, Meter, current
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case

if TYPE_CHECKING:
    import asyncio

__all__ = ["Remembered"]

_Key = tuple[bytes, int]


class Remembered:
    """A system that is asked the same query once in each repeat, also when it is wanted twice at the same time.

    An answer is kept for as long as the system lasts. What it takes is charged to the case that asked first.
    """

    def __init__(self, answerer: SystemAnswerer) -> None:
        self._answerer = answerer
        self._known: dict[_Key, Answer] = {}
        self._asking: dict[_Key, asyncio.Future[None]] = {}

    @property
    def overlap(self) -> bool:
        """Whether several are asked for on the event loop at a time: the system is async."""
        return self._answerer.waits

    def __call__(self, case: Case, why: str = "") -> Answer:
        """Return the answer to a case, asked for in this thread; where that fails ``why`` ends the message."""
        key = _key(case)
        if key not in self._known:
            with _asked_for(why):
                self._known[key] = self._answerer(case)
        return self._known[key]

    async def ahead(self, case: Case, why: str = "") -> Answer:
        """Return the same, asked for on the event loop."""
        import asyncio

        key = _key(case)
        while key not in self._known:
            if key in self._asking:
                await asyncio.shield(self._asking[key])  # who waited for one that failed asks for itself
                continue
            ended = self._asking[key] = asyncio.get_running_loop().create_future()
            try:
                with _asked_for(why):
                    self._known[key] = await self._answerer.ahead(case)
            finally:
                del self._asking[key]
                ended.set_result(None)
        return self._known[key]

    def forget(self, case: Case) -> None:
        """Ask anew when the answer to a case is wanted again."""
        self._known.pop(_key(case), None)


def _key(case: Case) -> _Key:
    """Return what tells a query from every other, in the repeat that is asked for."""
    said = repr(case.query).encode("utf-8", "surrogatepass")
    return hashlib.sha256(said).digest(), current().repeat


@contextmanager
def _asked_for(why: str) -> Iterator[None]:
    """Charge a meter of its own first, as an answerer knows by its meter what its system has asked; tell why it did.

    Raises:
        CaseError: the system has failed.
    """
    outer, own = current(), Meter()
    before = SCOPE.set(replace(outer, meter=own))
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
