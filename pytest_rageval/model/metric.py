"""What a metric is: a small declaration around one pure function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.phrases import RGB_MARKERS, Markers

__all__ = ["Metric", "Sample"]


@dataclass(frozen=True, slots=True)
class Sample:
    """The one value a metric is given: a case, the answer to it, and the session's markers."""

    case: Case
    answer: Answer
    markers: Markers = RGB_MARKERS


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric: its name, its function and how to read its values.

    Attributes:
        name: unique, as users write it in gates.
        compute: pure; returns a score in ``0..1`` or one without a value and with a reason.
        higher_is_better: the direction in which values improve.
        binary: every value is 0 or 1, so that a mean is a rate and takes a Wilson interval.
    """

    name: str
    compute: Callable[[Sample], Score]
    higher_is_better: bool = True
    binary: bool = False
