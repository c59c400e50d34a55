"""Answer the turns of a conversation, with the system's own answers as their history."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from pytest_rageval.engine.answerers import SystemAnswerer
from pytest_rageval.engine.once_cache import OnceCache
from pytest_rageval.errors import CaseError, short_repr
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case, Turn

if TYPE_CHECKING:
    from pytest_rageval.engine.recorded_answers import RecordedAnswerer, RecordedAnswers
    from pytest_rageval.engine.shared_answers import SharedAnswers

__all__ = ["ConversationAnswerer", "Conversations", "RecordedConversations"]


class ConversationAnswerer(Protocol):
    """Answers a turn; its history has the system's own answers to the earlier turns."""

    def __call__(self, case: Case, /) -> tuple[Case, Answer]:
        """Return a case with its history, and its answer; call the system in this thread.

        Raises:
            CaseError: the system fails.
        """
        ...

    async def ahead(self, case: Case, /) -> tuple[Case, Answer]:
        """Return a case with its history, and its answer; call the system on the event loop.

        Raises:
            CaseError: the system fails.
        """
        ...


class Conversations:
    """Answers a turn after the system's own answers to the earlier turns.

    If an answer to an earlier turn is missing, it calls the system: once for all processes, in any order of tests. A
    turn's test and the histories of later turns use the same answer. If the test runs again, the system is called
    again.

    Args:
        answerer: calls the system.
        shared: answers that the processes of the session share; None if there is only one process.
        known: (turn, repeat, answer) of an interrupted session that this one resumes.
    """

    def __init__(
        self,
        answerer: SystemAnswerer,
        shared: SharedAnswers | None = None,
        known: Iterable[tuple[Case, int, Answer]] = (),
    ) -> None:
        self._answers = OnceCache(answerer, shared, known)
        self._tested: set[tuple[object, ...]] = set()

    def __call__(self, case: Case) -> tuple[Case, Answer]:
        """Return a case with its history, and its answer; call the system in this thread.

        Raises:
            CaseError: the system fails on this turn or on an earlier one.
        """
        history: tuple[Turn, ...] = ()
        for turn in case.earlier or ():
            answer = self._answers(turn.with_history(history), _why(turn))
            history = (*history, Turn(turn.instance.question, answer.text))
        current = self._refresh(case.with_history(history))
        return current, self._answers(current)

    async def ahead(self, case: Case) -> tuple[Case, Answer]:
        """Return a case with its history, and its answer; call the system on the event loop."""
        history: tuple[Turn, ...] = ()
        for turn in case.earlier or ():
            answer = await self._answers.ahead(turn.with_history(history), _why(turn))
            history = (*history, Turn(turn.instance.question, answer.text))
        current = self._refresh(case.with_history(history))
        return current, await self._answers.ahead(current)

    def _refresh(self, case: Case) -> Case:
        """Return the case without earlier turns; if its test runs again, remove its answer from the cache."""
        test = (case.id, *sorted(case.facets.items()))
        if test in self._tested:
            self._answers.forget(case)
        self._tested.add(test)
        return replace(case, earlier=None)


class RecordedConversations:
    """Answers a turn from recorded answers; its history has the recorded answers to the earlier turns."""

    def __init__(self, answers: RecordedAnswers, answerer: RecordedAnswerer, system: str) -> None:
        self._answers = answers
        self._answerer = answerer
        self._system = system

    def __call__(self, case: Case) -> tuple[Case, Answer]:
        """Return a case with its history, and its answer.

        Raises:
            CaseError: no answer is recorded for it or for an earlier turn.
        """
        history: tuple[Turn, ...] = ()
        for turn in case.earlier or ():
            answer = self._answers.find(self._system, turn, turn.id)
            if answer is None:
                problem = f"no answer of system {self._system!r} is recorded for {turn.id!r}, a turn before {case.id!r}"
                raise CaseError("no_recorded_answer", f"{problem}; add one, or leave out history='own'")
            history = (*history, Turn(turn.instance.question, answer.text))
        current = replace(case.with_history(history), earlier=None)
        return current, self._answerer(current)

    async def ahead(self, case: Case) -> tuple[Case, Answer]:
        """Return a case with its history, and its answer, on the event loop."""
        return self(case)


def _why(turn: Case) -> str:
    return f"asked as the turn {short_repr(turn.id)}, which comes before"
