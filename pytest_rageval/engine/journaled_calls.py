"""Write the calls of a system to the journal, or reuse those of an interrupted run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import Token
from dataclasses import replace
from types import TracebackType

from pytest_rageval.llm.client.earlier_calls import SYSTEM
from pytest_rageval.llm.client.journal import JournaledCall
from pytest_rageval.llm.client.usage_meter import SCOPE, Scope, current
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.whole_answer import decode_whole_answer, encode_whole_answer

__all__ = ["SystemCall", "judging"]


class SystemCall:
    """One call of a system in the current scope.

    Args:
        journaled: whether to write to the journal and to reuse calls of an earlier run.

    Attributes:
        answer: the answer from an earlier run, charged to the scope's meter; None if the system must be asked.
    """

    def __init__(self, *, journaled: bool) -> None:
        self._scope = current()
        self._journal = self._scope.journal if journaled else None
        self._call = JournaledCall(self._journal, SYSTEM)
        self._outer: Token[Scope | None] | None = None
        self.answer: Answer | None = self._earlier()

    def __enter__(self) -> SystemCall:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._outer is not None:
            SCOPE.reset(self._outer)
        if error is not None:
            self._call.charge(self._scope.meter.calls)
            self._call.__exit__(kind, error, trace)

    def start(self) -> None:
        """Write the start of the call; the model calls of the system are then written as parts of it."""
        inside = self._call.start()
        if inside is not None:
            scope = self._scope
            self._outer = SCOPE.set(Scope(scope.meter, scope.repeat, scope.cassettes, inside, scope.renewed))

    def end(self, answer: Answer) -> Answer:
        """Write the answer, and return it."""
        if self._journal is not None:
            self._call.charge(self._scope.meter.calls)
            self._call.end(encode_whole_answer(answer), self._scope.meter.keys)
        return answer

    def _earlier(self) -> Answer | None:
        earlier = None if self._journal is None else self._journal.take(SYSTEM)
        if earlier is None:
            return None
        meter = self._scope.meter
        meter.add(earlier.calls)
        for key in earlier.recordings:
            meter.use(key)
        return decode_whole_answer(earlier.value)


@contextmanager
def judging() -> Iterator[None]:
    """Write the judging of an answer, with its model calls, to the journal."""
    scope = current()
    with JournaledCall(scope.journal, "judging") as call:
        outer = SCOPE.set(replace(scope, journal=call.start()))
        try:
            yield
        finally:
            SCOPE.reset(outer)
        call.end(None)
