"""The answer to a request outside of all tests."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_rageval.engine.asking import Asked
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.case import Case
from pytest_rageval.model.outcome import Outcome

__all__ = ["LiveAnswer"]


@dataclass(frozen=True, slots=True)
class LiveAnswer:
    """What came of a request.

    Attributes:
        case: the case as it was asked, with its located evidence.
        outcome: the answer and its scores, or the error.
        asked: the answer with the whole texts of its passages.
        calls: the model calls.
        replayed: whether all of them came from recordings; False without calls.
        keys: the recordings that were read or written.
    """

    case: Case
    outcome: Outcome
    asked: Asked
    calls: Calls
    replayed: bool
    keys: tuple[str, ...]
