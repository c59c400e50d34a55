"""The result of a question that a person asks in `rageval play`, outside of all tests."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_rageval.engine.case_executor import CaseResponses
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.case import Case
from pytest_rageval.model.outcome import Outcome

__all__ = ["LiveAnswer"]


@dataclass(frozen=True, slots=True)
class LiveAnswer:
    """The answer to a question, its scores and its calls.

    Attributes:
        case: the case as it was asked, with its located evidence.
        outcome: the answer and its scores, or the error.
        responses: the answer with the whole texts of its passages.
        calls: the model calls.
        replayed: whether all of them came from recordings; False without calls.
        keys: keys of the recordings that were read or written.
    """

    case: Case
    outcome: Outcome
    responses: CaseResponses
    calls: Calls
    replayed: bool
    keys: tuple[str, ...]
