"""Turn an outage that a trace reports into an error of the case."""

from __future__ import annotations

from pytest_rageval.errors import CaseError, short_repr
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case
from pytest_rageval.trace.completing import outage_of

__all__ = ["OutageError", "answer_before", "check_outage"]

WHAT = {"tool_unavailable": "a tool could not be reached", "model_error": "a call of a model failed"}


class OutageError(CaseError):
    """A run ended because a service failed, as its trace says; its answer must not be scored.

    Attributes:
        answer: the answer with its trace, for reports.
    """

    def __init__(self, kind: str, message: str, answer: Answer) -> None:
        super().__init__(kind, message)
        self.answer = answer


def check_outage(case: Case, answer: Answer) -> Answer:
    """Return the answer; raise `OutageError` if its trace reports an outage."""
    outage = outage_of(answer.trace)
    if outage is None:
        return answer
    reason, detail = outage
    why = f": {short_repr(detail, 200)}" if detail else ""
    raise OutageError(reason, f"case {case.id!r} ended with {reason}: {WHAT[reason]}{why}", answer)


def answer_before(error: CaseError) -> Answer | None:
    """Return the answer whose run ended in an outage; None for other errors."""
    return error.answer if isinstance(error, OutageError) else None
