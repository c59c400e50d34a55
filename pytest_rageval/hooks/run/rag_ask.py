"""The fixture ``rag_ask``: ask the session's system anything; equal requests only once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import EllipsisType
from typing import TYPE_CHECKING, Protocol

import pytest

from pytest_rageval.engine.answerers import SystemAnswerer
from pytest_rageval.engine.case_executor import CaseExecutor, CaseResponses
from pytest_rageval.engine.loop import LoopThread
from pytest_rageval.engine.once_cache import OnceCache
from pytest_rageval.engine.runner import Runner
from pytest_rageval.engine.shared_answers import SharedAnswers
from pytest_rageval.engine.task import Task
from pytest_rageval.errors import CaseError, SettingError, message_with_code, short_repr
from pytest_rageval.hooks.collect.keys import REQUEST_ENTRIES
from pytest_rageval.hooks.config.fixture_overrides import request_of, running_test
from pytest_rageval.hooks.config.shared_folder import shared_folder
from pytest_rageval.hooks.run.cancellation import ask_until
from pytest_rageval.hooks.run.failures import BUDGET, executor_or_error, fail_test, responses_or_error
from pytest_rageval.hooks.run.result import RagResult
from pytest_rageval.llm.client.usage_meter import Meter
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case, Instance, Passage, Turn
from pytest_rageval.model.outcome import Outcome, Score

if TYPE_CHECKING:
    from pytest_rageval.hooks.collect.session import Collected
    from pytest_rageval.hooks.collect.testbed import Entry
    from pytest_rageval.hooks.prepare.evidence import EvidenceCorpora
    from pytest_rageval.hooks.run.system_setup import CaseExecutors, Origin

__all__ = ["Ask", "AskedResult", "HasCase", "RagAsk"]

_AS_ARGUMENT = "rag_ask is not an argument of this test or of its fixtures; add it as an argument"


class HasCase(Protocol):
    """An object with a case, such as a variant."""

    @property
    def case(self) -> Case:
        """The case."""
        ...


class Ask(Protocol):
    """The value of the fixture ``rag_ask``."""

    def __call__(
        self,
        case: Case | Instance | HasCase,
        *,
        question: str | None = None,
        passages: Sequence[Passage | str] | EllipsisType | None = ...,
        history: Sequence[Turn] | None = None,
    ) -> RagResult:
        """Ask the system under test, and return its answer; ``answer["accuracy"]`` scores it.

        Args:
            case: a case of the session (``rag.case``) or of a strategy, or a record.
            question: replaces the question of the case.
            passages: replace the supplied passages, as texts or `Passage`; None if the system must retrieve.
            history: replaces the earlier turns.

        Raises:
            SettingError: an argument has the wrong type.
        """


class AskedResult(RagResult):
    """The answer to a request of a test; it belongs to no outcome, so its calls are counted separately."""

    def charge(self, meter: Meter) -> AskedResult:
        """Charge the model calls of metrics to ``meter`` from now on, and return this result."""
        self._meter = meter
        return self

    @property
    def outcome(self) -> Outcome:
        """The answer and the scores, as an outcome of a case."""
        return self._outcome

    def _score(self, name: str) -> Score:
        try:
            return super()._score(name)
        except CaseError as error:
            if error.kind == BUDGET:
                pytest.skip(f"not scored: {error}")
            raise


class RagAsk:
    """Answers the requests of tests like cases: with the same systems, recordings, budget and metrics.

    A system answers equal requests only once per session; the processes of a session share the answers.

    Args:
        collected: the session's cases and settings.
        session: the session of pytest.
        executors: the systems of this process.
        runner: scores answers.
        evidence: locates the evidence of cases.
        stop_if_refused: stops the session if a model refuses every call.
        loop: runs the systems of requests that can be stopped.
    """

    def __init__(
        self,
        collected: Collected,
        session: pytest.Session,
        executors: CaseExecutors,
        runner: Runner,
        evidence: EvidenceCorpora,
        stop_if_refused: Callable[[], None],
        loop: LoopThread,
    ) -> None:
        self._collected = collected
        self._session = session
        self._executors = executors
        self._runner = runner
        self._evidence = evidence
        self._stop_if_refused = stop_if_refused
        self._loop = loop
        self._shared = shared_folder(session.config)
        self._once: dict[Origin, tuple[object, _AnswersOnce]] = {}  # the system and its cache
        self._answered: dict[Origin, list[tuple[Case, int, Answer]]] = {}  # case, repeat and answer
        self._learns = bool(collected.request_entries) or collected.options.shrink is not None

    def __repr__(self) -> str:
        return "rag_ask"

    def __call__(
        self,
        case: Case | Instance | HasCase,
        *,
        question: str | None = None,
        passages: Sequence[Passage | str] | EllipsisType | None = ...,
        history: Sequence[Turn] | None = None,
    ) -> RagResult:
        """Ask the system of the running test; see `Ask`."""
        __tracebackhide__ = True
        item = running_test(self._session)
        request = request_of(item)
        if item is None or request is None or REQUEST_ENTRIES not in item.stash:
            pytest.fail(message_with_code(SettingError(_AS_ARGUMENT, code="RAG107")), pytrace=False)
        if self._collected.options.answers is not None:
            pytest.skip("rag_ask asks the system, and --rag-answers has recorded answers only")
        changed_case = _with_changes(_case_of(case), question, passages, history)
        entries = item.stash[REQUEST_ENTRIES]
        entry = next((each for each in entries if each.responder.name == changed_case.facets.get("system")), entries[0])
        return self.ask(request, entry, changed_case.with_facets(system=entry.responder.name))

    def ask(self, request: pytest.FixtureRequest, entry: Entry, case: Case) -> AskedResult:
        """Ask the system of an entry; skip the running test if the budget is spent, and fail it after another error."""
        __tracebackhide__ = True
        nodeid = request.node.nodeid
        task = Task(nodeid, entry.testbed.nodeid, entry.responder.name, self._evidence.located(case, request), ())
        result, error = self.answer(request, entry, task)
        if error is not None and error.kind == BUDGET:
            pytest.skip(f"not asked: {str(error).partition(chr(10))[0]}")
        if error is not None:
            self._stop_if_refused()
            fail_test(str(error), error, debugs=getattr(self._session.config.option, "usepdb", False))
        return result

    def learn(self, origin: Origin, case: Case, answer: Answer) -> None:
        """Store the answer to a case of the session: a request for this case does not ask the system again."""
        if not self._learns:
            return
        triple = case, int(case.facets.get("repeat", "1")), answer
        self._answered.setdefault(origin, []).append(triple)
        if origin in self._once:
            self._once[origin][1].cache.learn(*triple)

    def answer(
        self, request: pytest.FixtureRequest, entry: Entry, task: Task, stop: threading.Event | None = None
    ) -> tuple[AskedResult, CaseError | None]:
        """Return the result of a task, and its error or None; its calls belong to no case.

        Args:
            request: sets up fixtures.
            entry: names the system.
            task: what to ask.
            stop: set by another thread to end the request; None if it cannot be stopped.
        """
        origin, meter = self._executors.origin(request.node, entry), Meter()
        executor = executor_or_error(self._executors, request, entry, origin)
        if isinstance(executor, CaseError):
            responses, used = CaseResponses(error=executor), None
        else:
            used = self._once_a_session(executor, origin)
            try:
                if stop is None:
                    responses = responses_or_error(partial(used.ask, task, meter), task)
                else:
                    responses = ask_until(stop, self._loop, executor, partial(used.ask_ahead, task, meter), task)
            finally:
                self._charge(meter)
        outcome, texts = self._runner.run(task, responses), self._collected.options.texts
        result = AskedResult(task, outcome, self._collected.catalog.metrics, self._runner, responses, used, texts=texts)
        return result.charge(self._collected.models.outside), responses.error

    def _charge(self, meter: Meter) -> None:
        """Count the calls and recordings of a request as those outside of cases."""
        outside = self._collected.models.outside
        outside.add(meter.calls)
        for key in meter.keys:
            outside.use(key, replayed=meter.replayed)

    def _once_a_session(self, executor: CaseExecutor, origin: Origin) -> CaseExecutor:
        """Return a desk whose system answers equal requests only once."""
        answerer = executor.answerer
        if not isinstance(answerer, SystemAnswerer):
            return executor
        system, once = self._once.get(origin, (None, None))
        if once is None or system is not answerer.system:
            once = _AnswersOnce(answerer, self._shared)
            self._once[origin] = answerer.system, once
            for triple in self._answered.get(origin, ()):
                once.cache.learn(*triple)
        return replace(executor, answerer=once)


class _AnswersOnce:
    """An answerer that asks its system equal requests only once."""

    overlaps = False

    def __init__(self, answerer: SystemAnswerer, shared: Path | None) -> None:
        self.light = answerer.light
        # the built-in reader is faster than a file
        answers = None if shared is None or answerer.light else SharedAnswers(shared / answerer.origin)
        self.cache = OnceCache(answerer, answers)

    def __call__(self, case: Case) -> Answer:
        return self.cache(case)

    async def ahead(self, case: Case) -> Answer:
        return await self.cache.ahead(case)


def _case_of(value: object) -> Case:
    """Return the case of a request; a record supplies its own passages."""
    if isinstance(value, Instance):
        return Case(value.id, value, value.passages, dict(value.facets))
    case = value if isinstance(value, Case) else getattr(value, "case", None)
    if not isinstance(case, Case):
        raise SettingError(f"rag_ask takes a Case, an Instance or a variant, found {short_repr(value)}")
    return case


def _with_changes(
    case: Case,
    question: str | None,
    passages: Sequence[Passage | str] | EllipsisType | None,
    history: Sequence[Turn] | None,
) -> Case:
    """Return a case with the question, passages and history of a request."""
    if question is not None:
        if not isinstance(question, str):  # a user's test may not be typed
            raise SettingError(f"rag_ask: question: found {short_repr(question)}, wanted a string")
        case = replace(case, instance=replace(case.instance, question=question))
    if history is not None:
        if not _is_list_of(history, Turn):
            raise SettingError(f"rag_ask: history: found {short_repr(history)}, wanted a list of Turn")
        case = replace(case.with_history(tuple(history)), earlier=None)
    if passages is None:
        return replace(case, supplied=None)
    if isinstance(passages, EllipsisType):
        return case
    if isinstance(passages, str) or not _is_list_of(passages, (Passage, str)):
        raise SettingError(f"rag_ask: passages: found {short_repr(passages)}, wanted a list of texts or Passage")
    return replace(case, supplied=tuple(_passage(at, each) for at, each in enumerate(passages)))


def _is_list_of(value: object, kinds: type | tuple[type, ...]) -> bool:
    return isinstance(value, Sequence) and all(isinstance(each, kinds) for each in value)


def _passage(at: int, value: Passage | str) -> Passage:
    return value if isinstance(value, Passage) else Passage(f"passage-{at}", value)
