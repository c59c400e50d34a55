"""Conversations that go on from what the system itself has said, instead of from gold answers."""

from __future__ import annotations

from dataclasses import replace

from pytest_rageval.engine.answerers import SystemAnswerer
from pytest_rageval.engine.remembered import Remembered
from pytest_rageval.engine.shared_answers import SharedAnswers
from pytest_rageval.errors import found
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case, Turn

__all__ = ["Conversations"]


class Conversations:
    """Answers a turn after the system's own answers to the turns before it.

    Those are asked for where they have not been given yet, whichever test comes first and in whichever process; each is
    asked for once. Each turn's own test takes the answer that later turns were given; run again, it asks anew.

    Args:
        answerer: asks the system.
        shared: where the processes of the session leave their answers for each other; None where there is but one.
    """

    def __init__(self, answerer: SystemAnswerer, shared: SharedAnswers | None = None) -> None:
        self._answers = Remembered(answerer, shared)
        self._tested: set[tuple[object, ...]] = set()

    def __call__(self, case: Case) -> tuple[Case, Answer]:
        """Return a case with its history and the answer to it, asked for in this thread.

        Raises:
            CaseError: there is no answer to it, or to a turn before it.
        """
        history: tuple[Turn, ...] = ()
        for turn in case.earlier or ():
            answer = self._answers(turn.with_history(history), _why(turn))
            history = (*history, Turn(turn.instance.question, answer.text))
        asked = self._anew(case.with_history(history))
        return asked, self._answers(asked)

    async def ahead(self, case: Case) -> tuple[Case, Answer]:
        """Return the same, asked for on the event loop."""
        history: tuple[Turn, ...] = ()
        for turn in case.earlier or ():
            answer = await self._answers.ahead(turn.with_history(history), _why(turn))
            history = (*history, Turn(turn.instance.question, answer.text))
        asked = self._anew(case.with_history(history))
        return asked, await self._answers.ahead(asked)

    def _anew(self, case: Case) -> Case:
        """Return the case; where its test has had its answer already, have it asked for anew."""
        test = (case.id, *sorted(case.facets.items()))
        if test in self._tested:
            self._answers.forget(case)
        self._tested.add(test)
        return replace(case, earlier=None)


def _why(turn: Case) -> str:
    return f"asked as the turn {found(turn.id)}, which comes before"
