"""Answer the cases of tests, in turn or ahead of it; skip the cases of broken systems."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NoReturn

import pytest

from pytest_rageval.analysis.decisions.unscored_reasons import NOT_ASKED
from pytest_rageval.engine.case_executor import CaseExecutor, CaseResponses
from pytest_rageval.engine.lookahead import LookAhead
from pytest_rageval.engine.loop import LoopThread
from pytest_rageval.engine.runner import Runner, outcome_of
from pytest_rageval.engine.task import Task
from pytest_rageval.errors import CaseError
from pytest_rageval.hooks.collect.keys import COLLECTED, ENTRY
from pytest_rageval.hooks.config.shared_folder import shared_folder
from pytest_rageval.hooks.prepare.evidence import EvidenceCorpora
from pytest_rageval.hooks.prepare.suspects import runs_alone, suspects_of
from pytest_rageval.hooks.run.captured_output import AheadOutput, Routing, show_directly
from pytest_rageval.hooks.run.failures import BUDGET, BUILD, CONTRACT, executor_or_error, fail_test, responses_or_error
from pytest_rageval.hooks.run.journal import journal_of
from pytest_rageval.hooks.run.keys import NO_CALL, RESULTS
from pytest_rageval.hooks.run.play_requests import PlayRequests
from pytest_rageval.hooks.run.rag_ask import RagAsk
from pytest_rageval.hooks.run.result import RagResult
from pytest_rageval.hooks.run.system_setup import CaseExecutors, Origin
from pytest_rageval.hooks.run.test_queue import UpcomingTests, may_be_skipped
from pytest_rageval.llm.client.usage_meter import Meter
from pytest_rageval.model.calls import Calls
from pytest_rageval.trace.otel.live import open_traces

if TYPE_CHECKING:
    from pytest_rageval.engine.answerers import SystemAnswerer
    from pytest_rageval.hooks.collect.session import Collected
    from pytest_rageval.hooks.collect.testbed import Entry
    from pytest_rageval.model.outcome import Outcome

__all__ = ["ANSWERING", "Answering", "answering_of"]

MAX_WRONG = 3
"""Number of answers with the wrong type after which a system is broken, if all its answers so far are wrong."""


def answering_of(session: pytest.Session) -> Answering:
    """Return the `Answering` of this process; the first case that runs creates it."""
    config = session.config
    if ANSWERING not in config.stash:
        collected = config.stash[COLLECTED]
        collected.runtime = config.stash[ANSWERING] = Answering(collected, session)
    return config.stash[ANSWERING]


class Answering:
    """Asks the systems of one process, and scores their answers.

    A system is broken if it cannot be built, or if its first `MAX_WRONG` answers all have the wrong type. Each of these
    answers is an error of its case. Later cases of a broken system are skipped with its error as the reason, and gates
    over them fail.

    Attributes:
        asking: answers the requests of the fixture ``rag_ask``.
        live: answers the requests of ``rageval play``.
        traces: collects the spans of cases.
    """

    def __init__(self, collected: Collected, session: pytest.Session) -> None:
        self._collected = collected
        self._session = session
        self._runner = Runner(collected.options.markers, collected.options.trace_chars)
        status = session.config.pluginmanager.getplugin("rageval-status")
        self._loop = LoopThread(getattr(status, "tick", None))
        self._journal = journal_of(session.config)
        self._executors = CaseExecutors(collected, self._loop, shared_folder(session.config), self._journal)
        self._evidence = EvidenceCorpora(collected)
        self.asking = RagAsk(
            collected, session, self._executors, self._runner, self._evidence, self._stop_if_refused, self._loop
        )
        self.live = PlayRequests(collected, self._executors, self._runner, self._evidence, self._loop)
        self.traces = open_traces(collected.options.trace_mode)
        self._broken: dict[object, Outcome] = {}
        self._wrong: dict[object, set[str] | None] = {}  # cases with wrong answers; None after any other answer
        self._ahead = LookAhead(self._loop, collected.models.window)
        self._looks_ahead = collected.options.looks_ahead and not runs_alone(session.config)
        self._upcoming = UpcomingTests(session)
        self._suspects = suspects_of(session.config) or ()
        self._routing = Routing(session.config)
        self._outputs: dict[int, AheadOutput] = {}
        self._last: RagResult | None = None

    def answer(self, request: pytest.FixtureRequest, entry: Entry) -> RagResult:
        """Answer and score the case of a test; an error fails the setup of the test.

        Args:
            request: sets up fixtures for the test.
            entry: the case and its system.
        """
        item = request.node
        task = self._task(item, entry)
        located = self._evidence.located(task.case, request)
        task = task if located is task.case else replace(task, case=located)
        origin = self._executors.origin(item, entry)
        broken = self._broken.get(origin)
        if broken is not None and broken.nodeid != item.nodeid:  # the same item again is a rerun, which may succeed
            self._ahead.drop(id(item))
            self._outputs.pop(id(item), None)
            self._skip_unasked(request, task, outcome_of(task, error=CaseError(NOT_ASKED, _first_line(broken))))
        outcome, executor, responses = self._outcome(request, entry, task, origin)
        if self._breaks(origin, outcome):
            self._broken[origin] = outcome
        else:
            self._broken.pop(origin, None)
        if outcome.error_type == BUDGET:
            self._skip_unasked(request, task, outcome)
        result = self._store_result(request, task, outcome, executor, responses)
        if responses.answer is not None and responses.error is None and entry.responder.lasting:
            self.asking.learn(origin, result.case, responses.answer)
        if outcome.status == "error":
            self._stop_if_refused()
            fail_test(outcome.error, responses.error, debugs=getattr(self._session.config.option, "usepdb", False))
        return result

    @property
    def under_way(self) -> tuple[int, int, float | None]:
        """Number of answers, number of calls in flight and cost that no report contains yet, as in `PendingWork`."""
        return self._ahead.answered, self._collected.models.in_flight, self._ahead.cost_usd

    @property
    def fault(self) -> str | None:
        """Why the journal no longer stores calls; None if it stores them."""
        return self._journal.fault

    @property
    def hint(self) -> str | None:
        """Advice on a slow system, from measured times; None if there is none."""
        return self._executors.hint

    @property
    def systems(self) -> list[SystemAnswerer]:
        """The systems that this process has built so far."""
        return self._executors.answering

    def stop_looking_ahead(self) -> None:
        """Stop asking ahead, because a debugger starts: show its output, and cancel pending answers.

        If the debugger was called by a system that is asked ahead, this runs on the system's thread. In that case the
        main thread cancels the answers later.
        """
        self._looks_ahead = False
        show_directly()
        if threading.current_thread() is threading.main_thread():
            self._cancel_except([])

    def close(self) -> Calls:
        """End the event loop's thread; return the model calls that belong to no reported outcome."""
        self._loop.close(self._collected.models.close)
        self._ahead.clear()
        self._executors.close()
        self._journal.close()
        self._routing.stop()
        unclaimed, last = self._ahead.unclaimed, self._last
        if last is not None and not last.is_reported:  # an interrupt ended its test before its report
            unclaimed += last.outcome.calls or Calls()
        return unclaimed

    def _task(self, item: pytest.Item, entry: Entry) -> Task:
        testbed, case = entry.testbed, self._collected.session_case(entry)
        metrics = tuple(testbed.metrics.values())
        return Task(item.nodeid, testbed.nodeid, entry.responder.name, case, metrics, testbed.correctness)

    def _outcome(
        self, request: pytest.FixtureRequest, entry: Entry, task: Task, origin: Origin
    ) -> tuple[Outcome, CaseExecutor | None, CaseResponses]:
        executor = executor_or_error(self._executors, request, entry, origin)
        if isinstance(executor, CaseError):
            responses = CaseResponses(error=executor)
            return self._runner.run(task, responses), None, responses
        responses = responses_or_error(partial(self._ask, request.node, entry, executor, task), task)
        return self._runner.run(task, responses), executor, responses

    def _breaks(self, origin: Origin, outcome: Outcome) -> bool:
        """Return whether this outcome of one of its cases breaks a system."""
        if outcome.error_type != CONTRACT:
            self._wrong[origin] = None if outcome.error_type != BUILD else self._wrong.get(origin, set())
            return outcome.error_type == BUILD
        wrong = self._wrong.setdefault(origin, set())
        if wrong is None:
            return False
        wrong.add(outcome.nodeid)  # a rerun is the same case again
        return len(wrong) >= MAX_WRONG

    def _ask(self, item: pytest.Item, entry: Entry, executor: CaseExecutor, task: Task) -> CaseResponses:
        """Ask the system in this thread, or on the event loop together with the next cases."""
        if not self._looks_ahead:
            self._cancel_except([])
        if not self._looks_ahead or not entry.responder.lasting or not executor.goes_ahead(task):
            meter = Meter()
            return self._ahead.ask_now(partial(executor.ask, task, meter), meter)
        expected = id(item) in self._ahead
        if not expected:
            self._start_ahead(item, executor, task)
        if not expected or self._ahead.has_room:  # searching the window takes time
            self._fill_window(item)
        output = self._outputs.pop(id(item))
        try:
            return self._ahead.claim(id(item))
        finally:
            output.replay()

    def _fill_window(self, item: pytest.Item) -> None:
        """Start asking the cases of the next tests, up to the size of the window.

        Stop at the first test that sets up or tears down a fixture of the user, or has other fixture parameters.
        """
        coming = self._upcoming.after(item, self._ahead.window)
        self._cancel_except([item, *coming])
        for following in self._upcoming.without_stealable(coming):
            if id(following) in self._ahead:
                continue
            if len(self._ahead) >= self._ahead.window or not self._upcoming.shares_fixtures(following, item):
                return
            if not self._upcoming.follows_directly(following, item):
                return
            entry = following.stash.get(ENTRY, None)
            if entry is None or not entry.responder.lasting or may_be_skipped(following):
                continue
            if following.nodeid in self._suspects:
                continue
            origin = self._executors.origin(following, entry)
            executor = None if origin in self._broken else self._executors.known(origin)
            if executor is None:
                continue
            task = self._task(following, entry)
            executor = self._executors.for_entry(executor, entry)
            if executor.goes_ahead(task) and self._upcoming.keep(following):
                self._start_ahead(following, executor, task)

    def _start_ahead(self, item: pytest.Item, executor: CaseExecutor, task: Task) -> None:
        self._routing.start()
        meter, output = Meter(), AheadOutput()
        self._outputs[id(item)] = output
        ask = partial(output.capture, partial(executor.ask_ahead, task, meter))
        self._ahead.start(id(item), ask, meter)

    def _cancel_except(self, items: Sequence[pytest.Item]) -> None:
        """Cancel the answers for all other tests: a plugin skipped them, or another worker runs them."""
        coming = {id(item) for item in items}
        self._ahead.cancel_others(coming)
        for key in self._outputs.keys() - coming:
            del self._outputs[key]

    def _stop_if_refused(self) -> None:
        """Stop the session if a model refuses every call, because all other cases would fail with the same error."""
        refusal = self._collected.models.refusal
        if refusal is not None and not self._session.shouldfail:
            self._session.shouldfail = f"{NO_CALL}: {refusal}"

    def _skip_unasked(self, request: pytest.FixtureRequest, task: Task, outcome: Outcome) -> NoReturn:
        skipped = replace(outcome, status="skipped")
        self._store_result(request, task, skipped, None, CaseResponses())
        pytest.skip(f"not asked: {_first_line(outcome)}")

    def _store_result(
        self,
        request: pytest.FixtureRequest,
        task: Task,
        outcome: Outcome,
        executor: CaseExecutor | None,
        responses: CaseResponses,
    ) -> RagResult:
        texts = self._collected.options.texts
        result = RagResult(
            task, outcome, self._collected.catalog.metrics, self._runner, responses, executor, texts=texts
        )
        request.config.stash.setdefault(RESULTS, {})[request.node] = self._last = result
        return result


ANSWERING: pytest.StashKey[Answering] = pytest.StashKey()
"""On the config: the process's `Answering`, from the first case on."""


def _first_line(outcome: Outcome) -> str:
    return (outcome.error or "").partition("\n")[0]
