"""Errors that keep the trace of a case: outages in the trace, exceptions of the system."""

from __future__ import annotations

from pytest_rageval.errors import CaseError, short_repr
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case
from pytest_rageval.trace.collector import Collector
from pytest_rageval.trace.completing import outage_of, steps_before_error

__all__ = ["UnansweredError", "answer_before", "check_outage", "error_with_steps"]

OUTAGES = {"tool_unavailable": "a tool could not be reached", "model_error": "a call of a model failed"}


class UnansweredError(CaseError):
    """A run ended without an answer that may be scored.

    Attributes:
        answer: an answer whose trace has the steps before the error, for reports; never scored.
    """

    def __init__(self, kind: str, message: str, answer: Answer) -> None:
        super().__init__(kind, message)
        self.answer = answer


def check_outage(case: Case, answer: Answer) -> Answer:
    """Return the answer; raise `UnansweredError` if its trace reports an outage."""
    outage = outage_of(answer.trace)
    if outage is None:
        return answer
    reason, detail = outage
    why = f": {short_repr(detail, 200)}" if detail else ""
    raise UnansweredError(reason, f"case {case.id!r} ended with {reason}: {OUTAGES[reason]}{why}", answer)


def answer_before(error: CaseError) -> Answer | None:
    """Return the answer with the steps before an error; None if the error has none."""
    return error.answer if isinstance(error, UnansweredError) else None


def error_with_steps(kind: str, message: str, collector: Collector | None) -> CaseError:
    """Return the error of a system that raised, with the steps that were collected before."""
    trace = () if collector is None else steps_before_error(collector)
    return UnansweredError(kind, message, Answer("", trace=trace)) if trace else CaseError(kind, message)
