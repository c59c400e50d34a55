"""Answer cases by calling a system, in its test or ahead of it."""

from __future__ import annotations

import inspect
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from pytest_rageval.engine.answer_check import check_fields
from pytest_rageval.engine.blocking import BlockingMeter, TimedAwaitable
from pytest_rageval.engine.journaled_calls import SystemCall
from pytest_rageval.engine.loop import LoopThread, NoLoop
from pytest_rageval.engine.outages import check_outage, error_with_steps
from pytest_rageval.engine.tracebacks import cause_of
from pytest_rageval.errors import CaseError, RagEvalError, SystemContractError
from pytest_rageval.llm.client.running_cases import running_case
from pytest_rageval.llm.client.usage_meter import Meter, RefusedCallError, charge, current
from pytest_rageval.model.answer import Answer, Usage
from pytest_rageval.model.case import Case
from pytest_rageval.model.current import CASE_ENVIRONMENT, CASE_IDS
from pytest_rageval.model.protocols import System
from pytest_rageval.systems.calling import is_async, to_answer
from pytest_rageval.threads import CallLimit, Threads
from pytest_rageval.trace.collector import Collector, collecting
from pytest_rageval.trace.completing import complete_answer, usage_of_trace
from pytest_rageval.trace.otel.live import case_span, late_spans

if TYPE_CHECKING:
    from pytest_rageval.llm.budget import Budget

__all__ = ["Answerer", "SystemAnswerer"]


class Answerer(Protocol):
    """A source of answers: a system, or a file of recorded answers."""

    @property
    def overlaps(self) -> bool:
        """Whether it may answer several cases at a time, ahead of their tests."""
        ...

    @property
    def light(self) -> bool:
        """Whether it is fast and runs no user's code, so it may run on the event loop."""
        ...

    def __call__(self, case: Case, /) -> Answer:
        """Return the answer to ``case``; raise `CaseError` if there is none."""
        ...

    async def ahead(self, case: Case, /) -> Answer:
        """Return the answer to ``case`` ahead of its test, on the event loop; raise `CaseError` if there is none."""
        ...


class SystemAnswerer:
    """Calls a system, awaits its result if necessary, and measures its time.

    Raises `SystemContractError` if the system does not return ``str | Answer``, and `CaseError`
    of kind "system_error" if it raises.

    Attributes:
        system: the system under test.
        name: its name.
        light: whether it is the embedded reader, which may run on the event loop.
        budget: counts the costs that answers report; None if each model call is counted when it is made.
        origin: identifies the system's fixtures and options, equal in all processes; if it is "", nothing is written
            to the journal.
        n_answers: the number of its answers.
        calls_seen: whether any of its model calls was recorded, replayed or charged.
    """

    def __init__(
        self,
        system: System,
        name: str,
        loop: LoopThread | NoLoop,
        bound: CallLimit | None = None,
        *,
        light: bool = False,
        budget: Budget | None = None,
        origin: str = "",
    ) -> None:
        self.system = system
        self.name = name
        self.light = light
        self.budget = budget
        self.origin = origin
        self.n_answers = 0
        self.calls_seen = False
        self._journaled = bool(origin) and not light  # the embedded reader costs nothing
        self._loop = loop
        self._bound = bound
        self._async = is_async(system)
        self._blocking = BlockingMeter()

    @property
    def waits(self) -> bool:
        """Whether the system is a coroutine function, and other coroutines can run while it waits."""
        return self._async and self._loop.waits

    @property
    def overlaps(self) -> bool:
        """Whether several calls may run at a time: the system is async and waits, or it is sync and runs in threads."""
        if not self._loop.waits:
            return False
        return self._async or (self._bound is not None and self._bound.max_calls > 1 and not self.light)

    @property
    def hint(self) -> str | None:
        """Advice if the system is async but blocks the event loop for most of its time; else None."""
        if not self._blocking.is_blocking or self._bound is None or self._bound.max_calls == 1:
            return None
        problem = "is async but blocks its event loop for most of its time, so its answers do not overlap"
        return f"system {self.name!r} {problem}; await an async client, or use def and --rag-concurrency"

    def __call__(self, case: Case, /) -> Answer:
        """Return the system's answer to ``case``; call the system in this thread."""
        with SystemCall(journaled=self._journaled) as call:
            if call.answer is not None:
                return call.answer
            with self._answering(case) as collector:
                call.start()
                start = time.perf_counter()
                value: object = self._call(case)
                if inspect.isawaitable(value):
                    value = self._loop.run(value)
                seconds = time.perf_counter() - start
            return call.end(check_outage(case, self._answer(value, seconds, collector)))

    async def ahead(self, case: Case, /) -> Answer:
        """Return the system's answer to ``case``; call the system on the event loop, after waiting for a free slot."""
        with SystemCall(journaled=self._journaled) as call:
            if call.answer is not None:
                return call.answer
            with self._answering(case) as collector:
                if self.light or self._bound is None:
                    call.start()
                    value, seconds = await self._timed(case)
                else:
                    async with self._bound.slots:
                        call.start()
                        asking = self._timed(case) if self._async else self._in_thread(case, self._bound.threads)
                        value, seconds = await asking
                await late_spans()
            return call.end(check_outage(case, self._answer(value, seconds, collector)))

    def _call(self, case: Case) -> object:
        if self.budget is not None:
            self.budget.check()
        return self.system(case.query)

    async def _timed(self, case: Case) -> tuple[object, float]:
        start = time.perf_counter()
        value: object = self._call(case)
        if inspect.iscoroutine(value):
            value = await TimedAwaitable(value, self._blocking)
        elif inspect.isawaitable(value):
            value = await value
        return value, time.perf_counter() - start

    async def _in_thread(self, case: Case, threads: Threads) -> tuple[object, float]:
        def call() -> tuple[object, float]:
            start = time.perf_counter()
            return self._call(case), time.perf_counter() - start

        value, seconds = await threads.run(call)
        if inspect.isawaitable(value):
            start = time.perf_counter()
            value = await value
            seconds += time.perf_counter() - start
        return value, seconds

    @contextmanager
    def _answering(self, case: Case) -> Iterator[Collector]:
        """Set the current case and collect steps; turn exceptions into a `CaseError` that names system and case."""
        outer = CASE_IDS.set((case.id, case.instance.id))
        around = CASE_ENVIRONMENT.set(case.facets.get("environment", ""))
        meter, collector = current().meter, None
        before = meter.calls, meter.keys
        try:
            with collecting() as collector, case_span(case.id, self.name, collector), running_case():
                yield collector
            _raise_refusal(meter)
            self.n_answers += 1
        except RefusedCallError as refusal:
            raise _refused(refusal.error, self.name, case) from None
        except (CaseError, SystemContractError):
            raise
        except BaseException as error:
            if _is_not_a_fault(error):
                raise
            if meter.refused is not None:
                raise _refused(meter.refused, self.name, case) from None
            cancelled = type(error).__name__ == "CancelledError"
            message = f"system {self.name!r} failed on case {case.id!r}: {cause_of(error)}"
            raise error_with_steps("cancelled" if cancelled else "system_error", message, collector) from error
        finally:
            self.calls_seen = self.calls_seen or (meter.calls, meter.keys) != before
            CASE_IDS.reset(outer)
            CASE_ENVIRONMENT.reset(around)

    def _answer(self, value: object, seconds: float, collector: Collector) -> Answer:
        answer = to_answer(value, self.name)
        check_fields(answer, self.name)
        answer = complete_answer(answer, collector)
        meter = current().meter
        calls, asked_model = meter.calls.exact, meter.asked_model
        usage = answer.usage or (Usage() if asked_model else usage_of_trace(answer.trace))
        if not asked_model:
            charge(usage)
            if self.budget is not None and usage.cost_usd:
                self.budget.spend(usage.cost_usd)
        if asked_model and usage.prompt_tokens is usage.completion_tokens is None:  # known from the session's models
            usage = replace(
                usage,
                prompt_tokens=calls.prompt_tokens,
                completion_tokens=calls.completion_tokens,
                cost_usd=calls.cost_usd if usage.cost_usd is None else usage.cost_usd,
            )
        if usage.latency_s is None and not meter.replayed:  # the time of a replay is not a latency
            usage = Usage(usage.prompt_tokens, usage.completion_tokens, usage.cost_usd, seconds, usage.total_tokens)
        if usage is answer.usage:
            return answer
        rest = answer.ranking, answer.abstained, answer.trace, usage, answer.generated
        return Answer(answer.text, *rest) if answer.__class__ is Answer else replace(answer, usage=usage)


def _raise_refusal(meter: Meter) -> None:
    """Raise if a request of the system was refused; an answer that it gives in spite of that does not count."""
    if meter.refused is not None:
        raise RefusedCallError(meter.refused)


def _refused(error: RagEvalError, system: str, case: Case) -> CaseError:
    """Return the error of a case if one of its requests was refused."""
    if isinstance(error, CaseError):
        return error
    return CaseError("system_error", f"system {system!r} failed on case {case.id!r}: {error}")


def _is_not_a_fault(error: BaseException) -> bool:
    """Return whether an exception is not a fault of the system: an interrupt, a closed coroutine, or pytest's own.

    The module of pytest's skip and fail identifies them, because nothing below the hooks may import pytest.
    """
    if isinstance(error, (KeyboardInterrupt, GeneratorExit)):
        return True
    return not isinstance(error, Exception) and any(t.__module__ == "_pytest.outcomes" for t in type(error).__mro__)
