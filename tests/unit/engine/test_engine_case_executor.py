"""Execution of a case: the system, judges and panels, in turn and ahead."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pytest

from pytest_rageval.engine.answerers import SystemAnswerer
from pytest_rageval.engine.case_executor import CaseExecutor, CaseResponses
from pytest_rageval.engine.inputs.scoring_input import Sources
from pytest_rageval.engine.loop import LoopThread
from pytest_rageval.engine.task import Task
from pytest_rageval.errors import CaseError, ModelError
from pytest_rageval.judges.function import FunctionJudge
from pytest_rageval.judges.panel import Panel
from pytest_rageval.llm.backends.scripted import ScriptedLLM
from pytest_rageval.llm.client.clients import Client
from pytest_rageval.llm.client.rate_limiter import Limiter
from pytest_rageval.llm.client.retry import RetryPolicy
from pytest_rageval.llm.client.usage_meter import Meter, current
from pytest_rageval.model.answer import Answer, Usage
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.case import Case, Instance, Query
from pytest_rageval.model.chat import ChatModel
from pytest_rageval.model.judging import Judge
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.phrases import RGB_MARKERS
from pytest_rageval.model.sample import Sample
from pytest_rageval.model.verdict import Verdict
from pytest_rageval.threads import CallLimit

CASE = Case("q1", Instance("q1", "Where?", (("Paris",),)), None, {"repeat": "3"})
LENGTH = Metric("length", lambda sample: Score(0.5))


@pytest.fixture
def loop() -> Iterator[LoopThread]:
    thread = LoopThread()
    yield thread
    thread.close()


class ModelJudge:
    """A judge that asks its model once and may then fail."""

    needs_model = True

    def __init__(self, name: str, error: BaseException | None = None) -> None:
        self.name = name
        self.error = error

    async def ask(self, sample: Sample, model: ChatModel) -> Verdict:
        await model.complete([{"role": "user", "content": f"{self.name}: {sample.answer.text}"}])
        if self.error is not None:
            raise self.error
        return Verdict("yes")


def judged_task(*judges: Judge, closed_book: bool = False) -> Task:
    metrics = [Metric(judge.name, lambda sample: Score(1.0), judge=judge) for judge in judges]
    metrics += [Metric("knew", lambda sample: Score(1.0), closed_book=True)] if closed_book else []
    return Task("t.py::t[q1]", "t.py::t", "mine", CASE, (LENGTH, *metrics))


def client(llm: ScriptedLLM) -> Client:
    return Client(llm, name="scripted", limiter=Limiter(9), retry=RetryPolicy())


async def paris_system(query: Query) -> Answer:
    return Answer("Paris", usage=Usage(10, 2, 0.5))


def executor_of(loop: LoopThread, llm: ScriptedLLM | None = None, system: object = paris_system) -> CaseExecutor:
    answerer = SystemAnswerer(system, "mine", loop, CallLimit(2))  # type: ignore[arg-type]
    model = None if llm is None else client(llm)
    return CaseExecutor(answerer, Sources(loop, llm=model, judge=model), RGB_MARKERS)


@pytest.mark.parametrize("ahead", [False, True], ids=["in turn", "ahead"])
def test_loading_the_library_of_a_model_does_not_count_as_latency(loop: LoopThread, ahead: bool) -> None:
    loading = threading.Thread(target=time.sleep, args=(0.1,))
    loading.start()
    executor, task = replace(executor_of(loop), loading=loading), judged_task()
    start = time.perf_counter()
    responses = loop.run(executor.ask_ahead(task, Meter())) if ahead else executor.ask(task, Meter())
    assert time.perf_counter() - start > 0.05
    assert responses.answer is not None
    assert responses.answer.usage is not None
    assert (responses.answer.usage.latency_s or 0) < 0.05


def ask_both_ways(loop: LoopThread, executor: CaseExecutor, task: Task) -> Sequence[CaseResponses]:
    """Return the responses in turn and ahead."""
    return executor.ask(task, Meter()), loop.run(executor.ask_ahead(task, Meter()))


def test_asking_ahead_and_in_turn_gives_the_same_result(loop: LoopThread) -> None:
    llm = ScriptedLLM("so", usage=Usage(1, 1, 0.25))
    in_turn, ahead = ask_both_ways(
        loop, executor_of(loop, llm), judged_task(ModelJudge("a"), ModelJudge("b"), closed_book=True)
    )
    for responses in (in_turn, ahead):
        assert responses.error is None
        assert responses.answer is not None
        assert (responses.answer.text, responses.inputs["closed_book"].text) == ("Paris", "so")
        assert responses.inputs["verdicts"] == {"a": Verdict("yes"), "b": Verdict("yes")}
        assert responses.calls == Calls(4, 0, 4, 13, 5, 1.25, 1.25)
    assert len(llm.requests) == 6


def test_judges_that_need_a_model_are_not_asked_without_one(loop: LoopThread) -> None:
    function = FunctionJudge("mine", lambda sample: True)
    for responses in ask_both_ways(loop, executor_of(loop), judged_task(ModelJudge("a"), function)):
        assert set(responses.inputs["verdicts"]) == {"mine"}
        assert responses.calls == Calls(1, 0, 1, 10, 2, 0.5, 0.5)


def test_a_judge_may_await_other_calls_in_a_replay(loop: LoopThread) -> None:
    async def waits(sample: Sample) -> float:
        await asyncio.sleep(0)
        return 1.0

    for responses in ask_both_ways(
        loop, replace(executor_of(loop), replays=True), judged_task(FunctionJudge("mine", waits))
    ):
        assert responses.inputs["verdicts"] == {"mine": Verdict(1.0)}


class RecordingJudge:
    """A judge that records the repeat of each request and has another judge for the swapped order."""

    needs_model = True
    values: Mapping[str, float | None] = {"1": 1, "2": 0}

    def __init__(self, name: str, requests: list[tuple[str, int]], other: Judge | None = None) -> None:
        self.name, self.requests, self.swapped = name, requests, other

    async def ask(self, sample: Sample, model: ChatModel) -> Verdict:
        self.requests.append((self.name, current().repeat))
        reply = await model.complete([{"role": "user", "content": self.name}])
        return Verdict(reply.text)


def test_the_votes_of_a_panel_have_distinct_repeats(loop: LoopThread) -> None:
    requests: list[tuple[str, int]] = []
    judge = RecordingJudge("tone", requests, RecordingJudge("enot", requests))
    one, two = client(ScriptedLLM({"enot": "2", "": "1"}, usage=Usage(1, 1, 0.25))), client(ScriptedLLM("2"))
    panel = Panel(("one", "two", "nobody"), "majority", repeat=2, swapped=True)
    panelists = {"one": one, "two": two, "nobody": None}
    executor = replace(executor_of(loop), sources=Sources(loop, panels={"tone": panel}, panelists=panelists))
    for responses in ask_both_ways(loop, executor, judged_task(judge)):
        verdict = responses.inputs["verdicts"]["tone"]
        assert [(vote.model, vote.repeat, vote.swapped, vote.verdict.label) for vote in verdict.votes] == [
            ("one", 1, False, "1"), ("one", 2, False, "1"), ("one", 1, True, "2"),
            ("two", 1, False, "2"), ("two", 2, False, "2"), ("two", 1, True, "2"),
            ("nobody", 1, False, None), ("nobody", 2, False, None), ("nobody", 1, True, None),
        ]  # fmt: skip
        assert verdict.label == "2"
        assert responses.calls is not None
        assert responses.calls.calls == 7
    # votes 5 and 6 belong to the third repeat of the case
    assert requests == [("tone", 5), ("tone", 6), ("enot", 5)] * 4
    assert current().repeat == 1


def test_a_label_that_has_no_value_has_no_mean(loop: LoopThread) -> None:
    panelists = {"one": client(ScriptedLLM("so")), "two": client(ScriptedLLM("so"))}
    panels = {"a": Panel(("one", "two"), "mean")}
    executor = replace(executor_of(loop), sources=Sources(loop, panels=panels, panelists=panelists))
    for responses in ask_both_ways(loop, executor, judged_task(ModelJudge("a"))):
        assert responses.error is not None
        assert (responses.error.kind, responses.answer is None) == ("judge_error", False)
        assert "judge 'a' on case 'q1': the label 'yes' has no value" in str(responses.error)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ModelError("auth", "no key"), "auth"),
        (ValueError("odd"), "judge_error"),
        (asyncio.CancelledError(), "cancelled"),
    ],
)
def test_a_failing_judge_does_not_lose_the_answer_and_its_cost(
    loop: LoopThread, error: BaseException, kind: str
) -> None:
    llm = ScriptedLLM("so", usage=Usage(1, 1, 0.25))
    for responses in ask_both_ways(loop, executor_of(loop, llm), judged_task(ModelJudge("a", error))):
        assert responses.answer is not None
        assert responses.error is not None
        assert responses.error.kind == kind
        assert dict(responses.inputs) == {}
        assert responses.calls is not None
        assert responses.calls.calls == 2


def test_the_answer_of_a_failing_system_is_not_judged(loop: LoopThread) -> None:
    async def fails(query: Query) -> str:
        raise CaseError("budget", "too expensive")

    llm = ScriptedLLM("so")
    for responses in ask_both_ways(loop, executor_of(loop, llm, fails), judged_task(ModelJudge("a"))):
        assert responses.answer is None
        assert responses.error is not None
        assert responses.error.kind == "budget"
    assert llm.requests == ()


def test_a_call_has_the_repeat_of_its_case(loop: LoopThread) -> None:
    repeats: list[int] = []

    async def record_repeat(query: Query) -> str:
        repeats.append(current().repeat)
        return ""

    ask_both_ways(loop, executor_of(loop, None, record_repeat), Task("t", "t", "mine", CASE, (LENGTH,)))
    assert repeats == [3, 3]
    assert current().repeat == 1


def test_only_systems_that_can_overlap_are_asked_ahead(loop: LoopThread) -> None:
    plain, task = Task("t", "t", "mine", CASE, (LENGTH,)), judged_task(ModelJudge("a"))
    light = SystemAnswerer(lambda query: "", "mine", loop, CallLimit(1), light=True)
    sync = SystemAnswerer(lambda query: "", "mine", loop, CallLimit(1))
    assert executor_of(loop).goes_ahead(plain)
    assert not CaseExecutor(light, Sources(loop), RGB_MARKERS).goes_ahead(plain)
    assert CaseExecutor(light, Sources(loop), RGB_MARKERS).goes_ahead(task)
    assert not CaseExecutor(sync, Sources(loop), RGB_MARKERS).goes_ahead(task)
