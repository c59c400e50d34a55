"""From a case to its outcome: ask the system, score the answer, keep every failure's cause."""

from __future__ import annotations

import inspect
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from pytest_rageval.engine.loop import LoopThread
from pytest_rageval.engine.parts import check_parts
from pytest_rageval.engine.tracebacks import cause_of
from pytest_rageval.errors import CaseError, SystemContractError, found
from pytest_rageval.model.answer import Answer, Usage
from pytest_rageval.model.case import Case
from pytest_rageval.model.metric import Metric, Sample
from pytest_rageval.model.outcome import Outcome, Score
from pytest_rageval.model.phrases import Markers
from pytest_rageval.model.protocols import System
from pytest_rageval.model.ranking import Ranking
from pytest_rageval.systems.calling import checked

__all__ = ["Answerer", "Runner", "SystemAnswerer", "Task", "outcome_of"]


@dataclass(frozen=True, slots=True)
class Task:
    """A case with everything that names it in the session.

    Attributes:
        nodeid: the test item's node id.
        testbed: the node id of its function or suite entry.
        system: the name of the system that answers.
        case: what is asked.
        metrics: what the answer is scored by.
    """

    nodeid: str
    testbed: str
    system: str
    case: Case
    metrics: tuple[Metric, ...]


class Answerer(Protocol):
    """Where an answer comes from: a system that is called, or a file of recorded answers."""

    def __call__(self, case: Case, /) -> Answer:
        """Return the answer to ``case``; raise `CaseError` when there is none."""
        ...


class SystemAnswerer:
    """Answers by calling a system, awaits what it returns if need be, and notes the time it took.

    Raises `SystemContractError` when the system does not return ``str | Answer``, and `CaseError`
    of kind "system_error" when it raises.
    """

    def __init__(self, system: System, name: str, loop: LoopThread) -> None:
        self.system = system
        self.name = name
        self._loop = loop

    def __call__(self, case: Case, /) -> Answer:
        """Return the system's answer to ``case``."""
        query = case.query
        start = time.perf_counter()
        try:
            value: object = self.system(query)
            if inspect.isawaitable(value):
                value = self._loop.run(value)
        except (CaseError, SystemContractError):
            raise
        except BaseException as error:
            if not isinstance(error, (Exception, SystemExit)) and type(error).__name__ != "CancelledError":
                raise
            message = f"system {self.name!r} failed on case {case.id!r}: {cause_of(error)}"
            raise CaseError("system_error", message) from error
        seconds = time.perf_counter() - start
        answer = checked(value, self.name)
        check_parts(answer, self.name)
        usage = answer.usage
        if usage is None:
            return replace(answer, usage=Usage(latency_s=seconds))
        return answer if usage.latency_s is not None else replace(answer, usage=replace(usage, latency_s=seconds))


class Runner:
    """Turns tasks into outcomes; never raises for what a system or a metric did, save for a broken contract."""

    def __init__(self, markers: Markers) -> None:
        self._markers = markers

    def run(self, task: Task, answerer: Answerer) -> Outcome:
        """Return the outcome of ``task``: scored, or an error with its cause."""
        try:
            answer = answerer(task.case)
        except CaseError as error:
            return outcome_of(task, error=error)
        scores: dict[str, Score] = {}
        try:
            self._score(task, answer, scores)
        except CaseError as error:
            return outcome_of(task, _lean(answer, task.case), scores, error)
        return outcome_of(task, _lean(answer, task.case), scores)

    def score(self, case: Case, answer: Answer, metric: Metric) -> Score:
        """Return one metric's score; a metric that raises is a `CaseError` of kind "metric_error"."""
        try:
            score: object = metric.compute(Sample(case, answer, self._markers))
        except Exception as error:
            message = f"metric {metric.name!r} failed on case {case.id!r}: {cause_of(error)}"
            raise CaseError("metric_error", message) from error
        if not isinstance(score, Score):
            message = f"metric {metric.name!r} returned {found(score)} for case {case.id!r}; it must return a Score"
            raise CaseError("metric_error", message)
        value = score.value
        if value is not None and not (value in (0, 1) if metric.binary else 0 <= value <= 1):
            wanted = "0 or 1, as it is binary" if metric.binary else "in 0..1"
            message = f"metric {metric.name!r} gave {value:g} for case {case.id!r}; its values must be {wanted}"
            raise CaseError("metric_error", message)
        return score

    def _score(self, task: Task, answer: Answer, scores: dict[str, Score]) -> None:
        for metric in task.metrics:
            scores[metric.name] = self.score(task.case, answer, metric)


def outcome_of(
    task: Task,
    answer: Answer | None = None,
    scores: Mapping[str, Score] | None = None,
    error: CaseError | None = None,
) -> Outcome:
    """Return a task's outcome: scored without ``error``, else an error that keeps what was reached."""
    return Outcome(
        nodeid=task.nodeid,
        case_id=task.case.id,
        testbed=task.testbed,
        facets=task.case.facets,
        system=task.system,
        status="scored" if error is None else "error",
        answer=answer,
        scores=scores or {},
        supplied=tuple(p.id for p in task.case.supplied or ()),
        error=None if error is None else str(error),
        error_type=None if error is None else error.kind,
    )


def _lean(answer: Answer, case: Case) -> Answer:
    """Return the answer without the texts of passages that its instance holds anyway."""
    if answer.ranking is None:
        return answer
    known = {p.id for p in case.instance.passages or ()}
    items = [replace(i, text="", title="") if i.doc_id in known else i for i in answer.ranking]
    return replace(answer, ranking=Ranking(tuple(items)))
