"""Answer requests of `rageval play`: ask a system outside of all tests, until it is stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import pytest

from pytest_rageval.engine.case_executor import CaseExecutor, CaseResponses
from pytest_rageval.engine.live_answer import LiveAnswer
from pytest_rageval.engine.loop import LoopThread
from pytest_rageval.engine.runner import Runner
from pytest_rageval.engine.task import Task
from pytest_rageval.errors import CaseError
from pytest_rageval.hooks.run.cancellation import ask_until
from pytest_rageval.hooks.run.failures import executor_or_error
from pytest_rageval.llm.client.usage_meter import Meter
from pytest_rageval.systems.parts import no_passages
from pytest_rageval.systems.searching import AsyncSearch
from pytest_rageval.trace.collector import WATCHER, Event

if TYPE_CHECKING:
    from pytest_rageval.hooks.collect.session import Collected
    from pytest_rageval.hooks.collect.testbed import Entry
    from pytest_rageval.hooks.prepare.evidence import EvidenceCorpora
    from pytest_rageval.hooks.run.system_setup import CaseExecutors
    from pytest_rageval.model.case import Case
    from pytest_rageval.model.metric import Metric
    from pytest_rageval.model.ranking import Ranking

__all__ = ["PlayRequests"]


class PlayRequests:
    """Asks the systems of a session like cases: with the same systems, recordings, budget and metrics.

    Unlike `RagAsk`, it asks equal requests again, and charges no test.

    Args:
        collected: the session's settings.
        executors: the systems of this process.
        runner: scores answers.
        evidence: locates the evidence of cases.
        loop: runs the systems.
    """

    def __init__(
        self,
        collected: Collected,
        executors: CaseExecutors,
        runner: Runner,
        evidence: EvidenceCorpora,
        loop: LoopThread,
    ) -> None:
        self._collected = collected
        self._executors = executors
        self._runner = runner
        self._evidence = evidence
        self.loop = loop

    def ask(
        self,
        request: pytest.FixtureRequest,
        entry: Entry,
        case: Case,
        metrics: tuple[Metric, ...],
        stop: threading.Event,
        watch: Callable[[Event], object],
    ) -> LiveAnswer:
        """Ask the system of an entry, wait for its answer, and score it.

        Args:
            request: sets up fixtures.
            entry: names the system.
            case: the question, with its passages or history.
            metrics: the metrics that score the answer.
            stop: set by another thread to end the request.
            watch: called with each step that ends, on the thread of the system.
        """
        testbed, meter = entry.testbed, Meter()
        located = self._evidence.located(case, request)
        nodeid = request.node.nodeid
        task = Task(nodeid, testbed.nodeid, entry.responder.name, located, metrics, testbed.correctness)
        executor = executor_or_error(self._executors, request, entry, self._executors.origin(request.node, entry))
        if isinstance(executor, CaseError):
            responses = CaseResponses(error=executor)
        else:
            responses = ask_until(stop, self.loop, executor, partial(_ask_watched, executor, task, meter, watch), task)
        self._collected.models.outside.add(meter.calls)
        calls = meter.calls
        replayed = bool(calls.calls) and calls.attempts == 0
        outcome = self._runner.run(task, responses)
        return LiveAnswer(responses.case or located, outcome, responses, calls, replayed, meter.keys)

    def search(self, request: pytest.FixtureRequest, query: str, k: int) -> Ranking:
        """Return at most ``k`` passages that the retriever of a test finds for a query.

        Raises:
            RagEvalError: there is no corpus, or the retriever fails.
        """
        retriever = self._executors.retriever(request)
        if retriever is None:
            raise no_passages()
        return self.loop.run(AsyncSearch(retriever).find(query, k)).ranking


async def _ask_watched(
    executor: CaseExecutor, task: Task, meter: Meter, watch: Callable[[Event], object]
) -> CaseResponses:
    WATCHER.set(watch)  # in the context of this task only
    return await executor.ask_ahead(task, meter)
