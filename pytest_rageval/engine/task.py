"""A case that a session asks and scores."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_rageval.model.case import Case
from pytest_rageval.model.metric import Metric

__all__ = ["Task"]


@dataclass(frozen=True, slots=True)
class Task:
    """A case with its names in the session, and its metrics.

    Attributes:
        nodeid: the test item's node id.
        testbed: the node id of its function or suite entry.
        system: the name of the system that answers.
        case: the case.
        metrics: the metrics that score the answer.
    """

    nodeid: str
    testbed: str
    system: str
    case: Case
    metrics: tuple[Metric, ...]
