"""Get all that a case needs: the system's answer, and the inputs that its metrics read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pytest_rageval.engine.answerers import Answerer
from pytest_rageval.engine.conversations import ConversationAnswerer
from pytest_rageval.engine.inputs import inputs_of
from pytest_rageval.engine.journaled_calls import judging
from pytest_rageval.engine.loop import NoLoop
from pytest_rageval.engine.outages import answer_before
from pytest_rageval.engine.task import Task
from pytest_rageval.engine.tracebacks import cause_of
from pytest_rageval.errors import CaseError, RagEvalError
from pytest_rageval.llm.client.journal import CaseJournal, Journal
from pytest_rageval.llm.client.usage_meter import SCOPE, Meter, Scope
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.case import Case
from pytest_rageval.model.phrases import Markers
from pytest_rageval.model.sample import Sample
from pytest_rageval.trace.otel.live import CaseTrace, begin_case

if TYPE_CHECKING:
    from threading import Thread

    from pytest_rageval.engine.inputs.scoring_input import Context, ScoringInput, Sources
    from pytest_rageval.llm.recordings.cassettes import Cassettes

__all__ = ["NO_INPUTS", "CaseExecutor", "CaseResponses", "Inputs"]

Inputs = Mapping[str, Any]
"""Name of a scoring input -> its value, such as the verdicts of judges."""

NO_INPUTS: Inputs = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class CaseResponses:
    """The answer to a case and the inputs of its metrics; scoring them needs no model.

    Attributes:
        answer: the system's answer, if it gave one.
        error: why the answer, or an input that its metrics need, is missing.
        inputs: the inputs of its metrics.
        calls: the model calls; None if the session has no model.
        recordings: keys of the recordings that were read or written.
        case: the case with the system's own answers as its history; None if its history is the record's.
        trace: the case's OpenTelemetry trace, which receives its verdicts.
    """

    answer: Answer | None = None
    error: CaseError | None = None
    inputs: Inputs = field(default_factory=lambda: NO_INPUTS)
    calls: Calls | None = None
    recordings: tuple[str, ...] = ()
    case: Case | None = None
    trace: CaseTrace | None = None


@dataclass(frozen=True, slots=True)
class CaseExecutor:
    """Asks the system and the judges about a case.

    Attributes:
        answerer: gives the answer.
        sources: the models, judges and system that scoring inputs can ask.
        markers: phrases of rejections and detected errors, for metrics and judges.
        conversations: answers turns that follow the system's own answers; None if there is no system.
        cassettes: records a user's own functions; None if nothing is recorded.
        metered: whether the session has models; every case then reports its calls.
        replays: whether replies come only from recordings, and no model is asked.
        journal: receives the calls of each case; None writes nothing.
        loading: the thread that imports the models' library; its time must not count as latency.
        renewed: ids of the cases whose calls are recorded again.
    """

    answerer: Answerer
    sources: Sources
    markers: Markers
    conversations: ConversationAnswerer | None = None
    cassettes: Cassettes | None = None
    metered: bool = False
    replays: bool = False
    journal: Journal | None = None
    loading: Thread | None = None
    renewed: frozenset[str] = frozenset()

    def goes_ahead(self, task: Task) -> bool:
        """Return whether to run a task ahead of its test, because some of its calls can overlap with other tasks."""
        return self.answerer.overlaps or (self.answerer.light and bool(_of_models(inputs_of(task.metrics))))

    def ask(self, task: Task, meter: Meter) -> CaseResponses:
        """Return the responses to a task, and charge ``meter``; a sync system is called in this thread, its test's."""
        case, answer, inputs, fault = None, None, NO_INPUTS, None
        if self.loading is not None:
            self.loading.join()
        outer = SCOPE.set(self.scope(task.case, meter, task.nodeid))
        trace = begin_case(task.case.id, task.testbed)
        try:
            if self.conversations is not None and task.case.earlier is not None:
                case, answer = self.conversations(task.case)
                task = replace(task, case=case)
            else:
                answer = self.answerer(task.case)
            inputs = self._inputs(task, answer)
        except CaseError as error:
            fault, answer = error, answer or answer_before(error)
        finally:
            SCOPE.reset(outer)
        return self._responses(meter, answer, fault, inputs, case, trace)

    async def ask_ahead(self, task: Task, meter: Meter) -> CaseResponses:
        """Return the responses to a task, and charge ``meter``; call everything on the event loop."""
        SCOPE.set(self.scope(task.case, meter, task.nodeid))
        trace = begin_case(task.case.id, task.testbed)
        if self.loading is not None and self.loading.is_alive():
            await self._join(self.loading)
        case, answer, inputs, fault = None, None, NO_INPUTS, None
        try:
            if self.conversations is not None and task.case.earlier is not None:
                case, answer = await self.conversations.ahead(task.case)
                task = replace(task, case=case)
            else:
                answer = await self.answerer.ahead(task.case)
            inputs = await self._inputs_ahead(task, answer)
        except CaseError as error:
            fault, answer = error, answer or answer_before(error)
        return self._responses(meter, answer, fault, inputs, case, trace)

    def ask_more(self, task: Task, answer: Answer, meter: Meter) -> Inputs:
        """Return the inputs that the metrics of ``task`` need for an existing answer, and charge ``meter``."""
        outer = SCOPE.set(self.scope(task.case, meter, task.nodeid))
        try:
            return self._inputs(task, answer)
        finally:
            SCOPE.reset(outer)

    def scope(self, case: Case, meter: Meter, nodeid: str = "") -> Scope:
        """Return the scope of a case's model calls, which are charged to ``meter``.

        Calls are written to the journal if ``nodeid`` names the case's test.
        """
        journal = CaseJournal(self.journal, nodeid) if self.journal is not None and nodeid else None
        renewed = bool(self.renewed) and not self.renewed.isdisjoint((case.id, case.instance.id))
        return Scope(meter, int(case.facets.get("repeat", "1")), self.cassettes, journal, renewed)

    async def _join(self, loading: Thread) -> None:
        import asyncio

        await asyncio.to_thread(loading.join)

    def _inputs(self, task: Task, answer: Answer) -> Inputs:
        """Return the inputs of a task's metrics; call the system in this thread, and models on the event loop."""
        needed = inputs_of(task.metrics)
        if not needed:
            return NO_INPUTS
        context = self._context(task, answer)
        replies: dict[str, object] = {}
        for each in needed:
            if each.ask is not None:
                with _naming_errors(each, task):
                    replies[each.name] = each.ask(context)
        of_models = _of_models(needed)
        if of_models and answer.generated:
            runs = bool(self.sources.local_judges) or any(each.runs_own_code(task.metrics) for each in of_models)
            waits = runs or not self.replays
            replies |= (self.sources.loop if waits else NoLoop()).run(_ask_models(of_models, context))
        return _without_none(replies)

    async def _inputs_ahead(self, task: Task, answer: Answer) -> Inputs:
        """Return the inputs of a task's metrics; call the system and models on the event loop."""
        needed = inputs_of(task.metrics)
        if not needed:
            return NO_INPUTS
        context = self._context(task, answer)
        replies = await _ask_all([each for each in needed if each.ask is not None], context)
        of_models = _of_models(needed)
        if of_models and answer.generated:
            replies |= await _ask_models(of_models, context)
        return _without_none(replies)

    def _context(self, task: Task, answer: Answer) -> Context:
        from pytest_rageval.engine.inputs.scoring_input import Context

        return Context(task, Sample(task.case, answer, self.markers), self.sources)

    def _responses(
        self,
        meter: Meter,
        answer: Answer | None,
        error: CaseError | None,
        inputs: Inputs,
        case: Case | None,
        trace: CaseTrace,
    ) -> CaseResponses:
        calls = meter.calls
        return CaseResponses(
            answer, error, inputs, calls if self.metered or calls.calls else None, meter.keys, case, trace
        )


def _of_models(inputs: Sequence[ScoringInput]) -> list[ScoringInput]:
    """Return the inputs that come from models."""
    return [each for each in inputs if each.ask is None]


async def _ask_models(inputs: Sequence[ScoringInput], context: Context) -> dict[str, object]:
    """Return name -> reply for inputs that come from models; the journal lists their calls as judging."""
    with judging():
        return await _ask_all(inputs, context)


async def _ask_all(inputs: Sequence[ScoringInput], context: Context) -> dict[str, object]:
    """Return name -> reply for each input.

    Inputs are asked one after the other: cases already overlap, so a failure leaves no other call in flight.
    """
    replies: dict[str, object] = {}
    for each in inputs:
        with _naming_errors(each, context.task):
            replies[each.name] = await each.ask_ahead(context)
    return replies


@contextmanager
def _naming_errors(scoring_input: ScoringInput, task: Task) -> Iterator[None]:
    """Turn an unforeseen exception into a `CaseError` that names the input and the case."""
    try:
        yield
    except RagEvalError:
        raise
    except Exception as error:
        message = f"the scoring input {scoring_input.name!r} failed on case {task.case.id!r}: {cause_of(error)}"
        raise CaseError("input_error", message) from error


def _without_none(replies: Inputs) -> Inputs:
    return {name: reply for name, reply in replies.items() if reply is not None}
