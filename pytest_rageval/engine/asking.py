"""Ask everything that a case needs: system, judges, closed-book model, embeddings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from pytest_rageval.engine.answerers import Answerer, SystemAnswerer
from pytest_rageval.engine.conversations import Conversing
from pytest_rageval.engine.document_answers import Reading, Readings
from pytest_rageval.engine.journaled_calls import judging
from pytest_rageval.engine.judge_votes import panel_verdict, verdict_of
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


@dataclass(frozen=True, slots=True)
class Examined:
    """The replies about an answer that its metrics need.

    Attributes:
        verdicts: name of a judge -> its verdict.
        closed_book: the model's answer to the question alone.
        readings: id of each retrieved document -> the system's answer from it alone; None if not asked.
        vectors: text -> its embedding, for the texts that its metrics compare.
    """

    verdicts: Mapping[str, Verdict] = field(default_factory=lambda: _NO_VERDICTS)
    closed_book: Answer | None = None
    readings: Mapping[str, Reading] | None = None
    vectors: Mapping[str, Sequence[float]] | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """The result of asking; scoring it needs no model.

    Attributes:
        answer: the system's answer, if it gave one.
        error: why the answer, or a reply that its metrics need, is missing.
        examined: the replies about the answer.
        calls: the model calls; None if the session has no model.
        recordings: keys of the recordings that were read or written.
        case: the case with the system's own answers as its history; None if its history is the record's.
    """

    answer: Answer | None = None
    error: CaseError | None = None
    examined: Examined = field(default_factory=Examined)
    calls: Calls | None = None
    recordings: tuple[str, ...] = ()
    case: Case | None = None


@dataclass(frozen=True, slots=True)
class Desk:
    """The system and the judges for a case.

    Attributes:
        answerer: gives the answer.
        loop: runs coroutines.
        markers: for the judges' samples.
        judge: the model that judges ask; None makes judged metrics unscored.
        closed_book: the model without passages; None if there is no model.
        readings: gives the system's answers from single documents; None if there is no system.
        vectors: gives the embeddings of texts; None if there is no embedding model.
        conversations: gives the answers to turns that follow the system's own answers; None if there is no system.
        cassettes: records a user's own functions; None if nothing is recorded.
        metered: whether the session has models; every case then reports its calls.
        replays: whether replies come only from recordings, and no model is asked.
        journal: receives the calls of each case; None writes nothing.
        loading: the thread that imports the models' library; its time must not count as latency.
        panels: name of a judge -> the panel that votes instead of ``judge``.
        panelists: name of a panel's model -> the model; None if it is unavailable.
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
        """Return whether a task may be asked ahead of its test: parts of it can overlap with other tasks."""
        return self.answerer.overlaps or (self.answerer.light and self._needs_models(task))

    def ask(self, task: Task, meter: Meter) -> Asked:
        """Ask in this thread, where the test of a sync system runs, and charge ``meter``."""
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
        """Return the replies about an answer that the metrics of ``task`` need, and charge ``meter``."""
        outer = SCOPE.set(self.scope(task.case, meter, task.nodeid))
        try:
            return self._examined(task, answer)
        finally:
            SCOPE.reset(outer)

    def scope(self, case: Case, meter: Meter, nodeid: str = "") -> Scope:
        """Return the scope of a case's model calls, which are charged to ``meter``.

        Calls are written to the journal if ``nodeid`` names the case's test.
        """
        journal = CaseJournal(self.journal, nodeid) if self.journal is not None and nodeid else None
        return Scope(meter, int(case.facets.get("repeat", "1")), self.cassettes, journal)

    async def _loaded(self, loading: Thread) -> None:
        import asyncio

        await asyncio.to_thread(loading.join)

    def _loop_of(self, task: Task) -> LoopThread | NoLoop:
        """Return the loop for a task's judges; judges that only replay recordings need no event loop."""
        prompted = all(hasattr(judge, "messages") for judge in _judges(task))
        return NoLoop() if self.replays and prompted else self.loop

    def _needs_models(self, task: Task) -> bool:
        return any(metric.judge is not None or metric.closed_book or metric.texts for metric in task.metrics)

    def _examined(self, task: Task, answer: Answer) -> Examined:
        """Return the replies about an answer; ask a sync system for its readings in this thread."""
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
        """Return the judges' verdicts, the closed-book answer and the embeddings; nothing for an ungenerated answer.

        They are asked one after the other: cases already overlap, and a failure then leaves no other call in flight.
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
                verdicts[judge.name] = await panel_verdict(judge, panel, self.panelists, sample)
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
        return Asked(answer, error, examined, calls if self.metered or calls.calls else None, meter.keys, case)


def _wants_readings(task: Task) -> bool:
    return any(metric.labels != "none" for metric in task.metrics)


def _judges(task: Task) -> list[Judge]:
    """Return the judges of a task's metrics, each once."""
    return list({metric.judge.name: metric.judge for metric in task.metrics if metric.judge}.values())
