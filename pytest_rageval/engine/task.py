"""A case that a session answers and scores."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_rageval.model.case import Case
from pytest_rageval.model.metric import Metric

__all__ = ["Correctness", "Task"]


@dataclass(frozen=True, slots=True)
class Correctness:
    """The rule that decides whether an answer is right.

    Attributes:
        metric: the name of a metric.
        threshold: the smallest value of a right answer.
    """

    metric: str
    threshold: float


@dataclass(frozen=True, slots=True)
class Task:
    """A case with its test, its system and its metrics.

    Attributes:
        nodeid: the test item's node id.
        testbed: the node id of its test function or suite entry.
        system: the name of the system that answers.
        case: the case.
        metrics: the metrics that score the answer.
        correctness: decides for the diagnosis whether the answer is right; None if no metric scores answers.
    """

    nodeid: str
    testbed: str
    system: str
    case: Case
    metrics: tuple[Metric, ...]
    correctness: Correctness | None = None
