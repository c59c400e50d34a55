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


class Asks:
    """A judge that asks its model once, and can then fail."""

    needs_model = True

    def __init__(self, name: str, error: BaseException | None = None) -> None:
        self.name = name
        self.error = error

    async def ask(self, sample: Sample, model: ChatModel) -> Verdict:
        await model.complete([{"role": "user", "content": f"{self.name}: {sample.answer.text}"}])
        if self.error is not None:
            raise self.error
        return Verdict("yes")


def judged(*judges: Judge, closed_book: bool = False) -> Task:
    metrics = [Metric(judge.name, lambda sample: Score(1.0), judge=judge) for judge in judges]
    metrics += [Metric("knew", lambda sample: Score(1.0), closed_book=True)] if closed_book else []
    return Task("t.py::t[q1]", "t.py::t", "mine", CASE, (LENGTH, *metrics))


def client(llm: ScriptedLLM) -> Client:
    return Client(llm, name="scripted", limiter=Limiter(9), retry=RetryPolicy())


async def mine(query: Query) -> Answer:
    return Answer("Paris", usage=Usage(10, 2, 0.5))


def desk(loop: LoopThread, llm: ScriptedLLM | None = None, system: object = mine) -> CaseExecutor:
    answerer = SystemAnswerer(system, "mine", loop, CallLimit(2))  # type: ignore[arg-type]
    model = None if llm is None else client(llm)
    return CaseExecutor(answerer, Sources(loop, llm=model, judge=model), RGB_MARKERS)


@pytest.mark.parametrize("ahead", [False, True], ids=["in turn", "ahead"])
def test_loading_a_models_library_does_not_count_as_latency(loop: LoopThread, ahead: bool) -> None:
    loading = threading.Thread(target=time.sleep, args=(0.1,))
    loading.start()
    made, task = replace(desk(loop), loading=loading), judged()
    begun = time.perf_counter()
    asked = loop.run(made.ask_ahead(task, Meter())) if ahead else made.ask(task, Meter())
    assert time.perf_counter() - begun > 0.05
    assert asked.answer is not None
    assert asked.answer.usage is not None
    assert (asked.answer.usage.latency_s or 0) < 0.05


def both(loop: LoopThread, made: CaseExecutor, task: Task) -> Sequence[CaseResponses]:
    """Ask in turn and ahead."""
    return made.ask(task, Meter()), loop.run(made.ask_ahead(task, Meter()))


def test_asking_ahead_and_in_turn_gives_the_same_result(loop: LoopThread) -> None:
    llm = ScriptedLLM("so", usage=Usage(1, 1, 0.25))
    in_turn, ahead = both(loop, desk(loop, llm), judged(Asks("a"), Asks("b"), closed_book=True))
    for asked in (in_turn, ahead):
        assert asked.error is None
        assert asked.answer is not None
        assert (asked.answer.text, asked.inputs["closed_book"].text) == ("Paris", "so")
        assert asked.inputs["verdicts"] == {"a": Verdict("yes"), "b": Verdict("yes")}
        assert asked.calls == Calls(4, 0, 4, 13, 5, 1.25, 1.25)
    assert len(llm.requests) == 6


def test_without_a_model_judges_that_need_one_are_not_asked(loop: LoopThread) -> None:
    function = FunctionJudge("mine", lambda sample: True)
    for asked in both(loop, desk(loop), judged(Asks("a"), function)):
        assert set(asked.inputs["verdicts"]) == {"mine"}
        assert asked.calls == Calls(1, 0, 1, 10, 2, 0.5, 0.5)


def test_a_judge_may_await_other_calls_in_a_replay(loop: LoopThread) -> None:
    async def waits(sample: Sample) -> float:
        await asyncio.sleep(0)
        return 1.0

    for asked in both(loop, replace(desk(loop), replays=True), judged(FunctionJudge("mine", waits))):
        assert asked.inputs["verdicts"] == {"mine": Verdict(1.0)}


class Notes:
    """A judge that records the repeat of each request, and has a second judge for the swapped order."""

    needs_model = True
    values: Mapping[str, float | None] = {"1": 1, "2": 0}

    def __init__(self, name: str, said: list[tuple[str, int]], other: Judge | None = None) -> None:
        self.name, self.said, self.swapped = name, said, other

    async def ask(self, sample: Sample, model: ChatModel) -> Verdict:
        self.said.append((self.name, current().repeat))
        reply = await model.complete([{"role": "user", "content": self.name}])
        return Verdict(reply.text)


def test_a_panel_votes_in_turn_and_no_two_repeats_share_a_recording(loop: LoopThread) -> None:
    said: list[tuple[str, int]] = []
    judge = Notes("tone", said, Notes("enot", said))
    one, two = client(ScriptedLLM({"enot": "2", "": "1"}, usage=Usage(1, 1, 0.25))), client(ScriptedLLM("2"))
    panel = Panel(("one", "two", "nobody"), "majority", repeat=2, swapped=True)
    panelists = {"one": one, "two": two, "nobody": None}
    made = replace(desk(loop), sources=Sources(loop, panels={"tone": panel}, panelists=panelists))
    for asked in both(loop, made, judged(judge)):
        verdict = asked.inputs["verdicts"]["tone"]
        assert [(vote.model, vote.repeat, vote.swapped, vote.verdict.label) for vote in verdict.votes] == [
            ("one", 1, False, "1"), ("one", 2, False, "1"), ("one", 1, True, "2"),
            ("two", 1, False, "2"), ("two", 2, False, "2"), ("two", 1, True, "2"),
            ("nobody", 1, False, None), ("nobody", 2, False, None), ("nobody", 1, True, None),
        ]  # fmt: skip
        assert verdict.label == "2"
        assert asked.calls is not None
        assert asked.calls.calls == 7
    assert said == [("tone", 5), ("tone", 6), ("enot", 5)] * 4  # of the third repeat of the case
    assert current().repeat == 1


def test_a_label_that_has_no_value_has_no_mean(loop: LoopThread) -> None:
    panelists = {"one": client(ScriptedLLM("so")), "two": client(ScriptedLLM("so"))}
    panels = {"a": Panel(("one", "two"), "mean")}
    made = replace(desk(loop), sources=Sources(loop, panels=panels, panelists=panelists))
    for asked in both(loop, made, judged(Asks("a"))):
        assert asked.error is not None
        assert (asked.error.kind, asked.answer is None) == ("judge_error", False)
        assert "judge 'a' on case 'q1': the label 'yes' has no value" in str(asked.error)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ModelError("auth", "no key"), "auth"),
        (ValueError("odd"), "judge_error"),
        (asyncio.CancelledError(), "cancelled"),
    ],
)
def test_a_judge_that_fails_keeps_the_answer_and_the_cost(loop: LoopThread, error: BaseException, kind: str) -> None:
    llm = ScriptedLLM("so", usage=Usage(1, 1, 0.25))
    for asked in both(loop, desk(loop, llm), judged(Asks("a", error))):
        assert asked.answer is not None
        assert asked.error is not None
        assert asked.error.kind == kind
        assert dict(asked.inputs) == {}
        assert asked.calls is not None
        assert asked.calls.calls == 2


def test_a_system_that_fails_is_not_judged(loop: LoopThread) -> None:
    async def fails(query: Query) -> str:
        raise CaseError("budget", "too expensive")

    llm = ScriptedLLM("so")
    for asked in both(loop, desk(loop, llm, fails), judged(Asks("a"))):
        assert asked.answer is None
        assert asked.error is not None
        assert asked.error.kind == "budget"
    assert llm.requests == ()


def test_a_call_knows_its_repeat(loop: LoopThread) -> None:
    seen: list[int] = []

    async def looks(query: Query) -> str:
        seen.append(current().repeat)
        return ""

    both(loop, desk(loop, None, looks), Task("t", "t", "mine", CASE, (LENGTH,)))
    assert seen == [3, 3]
    assert current().repeat == 1


def test_only_systems_that_can_overlap_are_asked_ahead(loop: LoopThread) -> None:
    plain, task = Task("t", "t", "mine", CASE, (LENGTH,)), judged(Asks("a"))
    light = SystemAnswerer(lambda query: "", "mine", loop, CallLimit(1), light=True)
    sync = SystemAnswerer(lambda query: "", "mine", loop, CallLimit(1))
    assert desk(loop).goes_ahead(plain)
    assert not CaseExecutor(light, Sources(loop), RGB_MARKERS).goes_ahead(plain)
    assert CaseExecutor(light, Sources(loop), RGB_MARKERS).goes_ahead(task)
    assert not CaseExecutor(sync, Sources(loop), RGB_MARKERS).goes_ahead(task)
