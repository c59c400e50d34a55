"""Everything that a case has to ask: its system, the judges of its metrics, the model without the passages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from pytest_rageval.engine.answerers import Answerer, SystemAnswerer
from pytest_rageval.engine.conversations import Conversing
from pytest_rageval.engine.document_answers import Reading, Readings
from pytest_rageval.engine.journaled_calls import judging
from pytest_rageval.engine.judge_votes import verdict_of, voted
from pytest_rageval.engine.loop import LoopThread, NoLoop
from pytest_rageval.engine.tracebacks import or_case_error
from pytest_rageval.engine.vectors import Vectors
from pytest_rageval.errors import CaseError
from pytest_rageval.judges.panel import Panel
from pytest_rageval.llm.client.journal import CaseJournal, Journal
from pytest_rageval.llm.client.usage_meter import SCOPE, Meter, Scope
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.case import Case
from pytest_rageval.model.judging import Judge
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.phrases import Markers
from pytest_rageval.model.sample import Sample
from pytest_rageval.model.verdict import Verdict

if TYPE_CHECKING:
    from threading import Thread

    from pytest_rageval.llm.recordings.cassettes import Cassettes
    from pytest_rageval.model.chat import ChatModel

__all__ = ["Asked", "Desk", "Examined", "Task"]

_NO_VERDICTS: Mapping[str, Verdict] = MappingProxyType({})
_NO_PANELS: Mapping[str, Panel] = MappingProxyType({})
_NOBODY: Mapping[str, ChatModel | None] = MappingProxyType({})


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


@dataclass(frozen=True, slots=True)
class Examined:
    """What was asked about an answer, as its metrics need it.

    Attributes:
        verdicts: name of a judge -> its verdict.
        closed_book: the model's answer to the question alone.
        readings: id of each retrieved document -> what the system answers from it alone; None where that was not asked.
        vectors: text -> its embedding, of what its metrics compare.
    """

    verdicts: Mapping[str, Verdict] = field(default_factory=lambda: _NO_VERDICTS)
    closed_book: Answer | None = None
    readings: Mapping[str, Reading] | None = None
    vectors: Mapping[str, Sequence[float]] | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of asking; scoring it needs no model any more.

    Attributes:
        answer: the system's answer, if it gave one.
        error: why there is no answer, or not all that its metrics need.
        examined: what was asked about the answer.
        calls: what models were asked; None when the session has no model.
        recordings: keys of the recordings that were read or written.
        case: the case as it was asked, where its history is what the system has said before; None elsewhere.
    """

    answer: Answer | None = None
    error: CaseError | None = None
    examined: Examined = field(default_factory=Examined)
    calls: Calls | None = None
    recordings: tuple[str, ...] = ()
    case: Case | None = None


@dataclass(frozen=True, slots=True)
class Desk:
    """Who answers a case, and who judges the answer.

    Attributes:
        answerer: gives the answer.
        loop: where coroutines run.
        markers: for the judges' samples.
        judge: the model that judges ask; None makes judged metrics unscored.
        closed_book: the model without passages; None when there is no model.
        readings: gives what the system answers from single documents; None when there is no system.
        vectors: gives the embeddings of texts; None when there is no embedding model.
        conversations: gives the answers to turns that follow the system's own answers; None when there is no system.
        cassettes: where a user's own functions are recorded; None when nothing is.
        metered: whether the session has models, so that what they were asked is told of every case.
        replays: whether models are never asked, only their recordings read.
        journal: where the calls of each case are written; None writes nothing.
        loading: the thread that imports the models' library; its seconds are no answer's latency.
        panels: name of a judge -> who is asked for its verdicts instead of ``judge``.
        panelists: name of a panel's model -> the model; of None nothing can be read.
    """

    answerer: Answerer
    loop: LoopThread
    markers: Markers
    judge: ChatModel | None = None
    closed_book: SystemAnswerer | None = None
    readings: Readings | None = None
    vectors: Vectors | None = None
    conversations: Conversing | None = None
    cassettes: Cassettes | None = None
    metered: bool = False
    replays: bool = False
    journal: Journal | None = None
    loading: Thread | None = None
    panels: Mapping[str, Panel] = field(default_factory=lambda: _NO_PANELS)
    panelists: Mapping[str, ChatModel | None] = field(default_factory=lambda: _NOBODY)

    def goes_ahead(self, task: Task) -> bool:
        """Return whether a task may be asked ahead of its test: something in it can overlap."""
        return self.answerer.overlaps or (self.answerer.light and self._needs_models(task))

    def ask(self, task: Task, meter: Meter) -> Asked:
        """Ask in this thread, so that a sync system runs where its test does, and charge ``meter``."""
        case, answer, examined, fault = None, None, Examined(), None
        if self.loading is not None:
            self.loading.join()
        outer = SCOPE.set(self.scope(task.case, meter, task.nodeid))
        try:
            if self.conversations is not None and task.case.earlier is not None:
                case, answer = self.conversations(task.case)
                task = replace(task, case=case)
            else:
                answer = self.answerer(task.case)
            examined = self._examined(task, answer)
        except CaseError as error:
            fault = error
        finally:
            SCOPE.reset(outer)
        return self._asked(meter, answer, fault, examined, case)

    async def ask_ahead(self, task: Task, meter: Meter) -> Asked:
        """Ask on the event loop, and charge ``meter``."""
        SCOPE.set(self.scope(task.case, meter, task.nodeid))
        if self.loading is not None and self.loading.is_alive():
            await self._loaded(self.loading)
        case, answer, examined, fault = None, None, Examined(), None
        try:
            if self.conversations is not None and task.case.earlier is not None:
                case, answer = await self.conversations.ahead(task.case)
                task = replace(task, case=case)
            else:
                answer = await self.answerer.ahead(task.case)
            examined = await self._examined_ahead(task, answer)
        except CaseError as error:
            fault = error
        return self._asked(meter, answer, fault, examined, case)

    def ask_more(self, task: Task, answer: Answer, meter: Meter) -> Examined:
        """Return what the metrics of ``task`` need to know of an answer, and charge ``meter``."""
        outer = SCOPE.set(self.scope(task.case, meter, task.nodeid))
        try:
            return self._examined(task, answer)
        finally:
            SCOPE.reset(outer)

    def scope(self, case: Case, meter: Meter, nodeid: str = "") -> Scope:
        """Return on whose behalf models are asked: a case's, whose calls are charged to ``meter``.

        Calls are written to the journal if ``nodeid`` names the case's test.
        """
        journal = CaseJournal(self.journal, nodeid) if self.journal is not None and nodeid else None
        return Scope(meter, int(case.facets.get("repeat", "1")), self.cassettes, journal)

    async def _loaded(self, loading: Thread) -> None:
        import asyncio

        await asyncio.to_thread(loading.join)

    def _loop_of(self, task: Task) -> LoopThread | NoLoop:
        """Return where a task's judges run; what only reads recordings needs no event loop."""
        prompted = all(hasattr(judge, "messages") for judge in _judges(task))
        return NoLoop() if self.replays and prompted else self.loop

    def _needs_models(self, task: Task) -> bool:
        return any(metric.judge is not None or metric.closed_book or metric.texts for metric in task.metrics)

    def _examined(self, task: Task, answer: Answer) -> Examined:
        """Return what is asked about an answer; a sync system is asked in this thread for its readings, too."""
        readings = None
        if self.readings is not None and answer.ranking is not None and _wants_readings(task):
            if self.readings.overlap:
                readings = self.loop.run(self.readings.ahead(task.case, answer.ranking))
            else:
                readings = self.readings(task.case, answer.ranking)
        if not self._needs_models(task):
            return Examined(readings=readings)
        return replace(self._loop_of(task).run(self._judged(task, answer)), readings=readings)

    async def _examined_ahead(self, task: Task, answer: Answer) -> Examined:
        """Return the same on the event loop."""
        readings = None
        if self.readings is not None and answer.ranking is not None and _wants_readings(task):
            readings = await self.readings.ahead(task.case, answer.ranking)
        return replace(await self._judged(task, answer), readings=readings)

    async def _judged(self, task: Task, answer: Answer) -> Examined:
        """Return the judges' verdicts, the closed-book answer and the embeddings.

        They are asked for one after the other: cases overlap, and where one fails no other is left under way.
        None is asked of an answer that was not generated.
        """
        if not answer.generated or not self._needs_models(task):
            return Examined()
        with judging():
            return await self._judged_now(task, Sample(task.case, answer, self.markers))

    async def _judged_now(self, task: Task, sample: Sample) -> Examined:
        verdicts: dict[str, Verdict] = {}
        for judge in _judges(task):
            panel = self.panels.get(judge.name)
            if panel is not None:
                verdicts[judge.name] = await voted(judge, panel, self.panelists, sample)
            elif self.judge is not None or not getattr(judge, "needs_model", True):
                verdicts[judge.name] = await verdict_of(judge, self.judge, sample)
        alone = None
        if self.closed_book is not None and any(metric.closed_book for metric in task.metrics):
            alone = await self.closed_book.ahead(task.case)
        return Examined(verdicts, alone, vectors=await self._embedded(task, sample))

    async def _embedded(self, task: Task, sample: Sample) -> Mapping[str, Sequence[float]] | None:
        if self.vectors is None:
            return None
        texts = [text for metric in task.metrics if metric.texts is not None for text in metric.texts(sample)]
        if not texts:
            return None
        return await or_case_error(
            self.vectors(texts), "embedder_error", f"the embedding model failed on case {sample.case.id!r}"
        )

    def _asked(
        self, meter: Meter, answer: Answer | None, error: CaseError | None, examined: Examined, case: Case | None
    ) -> Asked:
        calls = meter.calls
        told = calls if self.metered or calls.calls else None
        return Asked(answer, error, examined, told, meter.keys, case)


def _wants_readings(task: Task) -> bool:
    return any(metric.labels != "none" for metric in task.metrics)


def _judges(task: Task) -> list[Judge]:
    """Return the judges of a task's metrics, each once."""
    return list({metric.judge.name: metric.judge for metric in task.metrics if metric.judge}.values())
