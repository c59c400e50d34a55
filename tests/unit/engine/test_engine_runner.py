"""Scores and errors of single cases."""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest

from pytest_rageval.engine.answerers import Answerer, SystemAnswerer
from pytest_rageval.engine.case_executor import CaseExecutor
from pytest_rageval.engine.inputs.scoring_input import Sources
from pytest_rageval.engine.loop import LoopThread
from pytest_rageval.engine.runner import Runner
from pytest_rageval.engine.task import Task
from pytest_rageval.errors import CaseError, SystemContractError
from pytest_rageval.llm.client.usage_meter import Meter
from pytest_rageval.model.answer import Answer, Usage
from pytest_rageval.model.case import Case, Instance, Passage, Query
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Outcome, Score
from pytest_rageval.model.phrases import RGB_MARKERS, Markers
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.model.sample import Sample

POOL = (Passage("p0", "evidence", role="positive"), Passage("n0", "noise", role="negative"))
CASE = Case("q1", Instance("q1", "Where?", (("Paris",),), POOL), (POOL[1], POOL[0]), {"topic": "A"})
LENGTH = Metric("length", lambda sample: Score(len(sample.answer.text) / 10))


@pytest.fixture
def loop() -> Iterator[LoopThread]:
    thread = LoopThread()
    yield thread
    thread.close()


def task(*metrics: Metric) -> Task:
    return Task("test_a.py::test_a[q1]", "test_a.py::test_a", "mine", CASE, metrics)


class FunctionAnswerer:
    """An answerer that calls one function."""

    overlaps = light = False

    def __init__(self, say: Callable[[Case], Answer]) -> None:
        self.say = say

    def __call__(self, case: Case, /) -> Answer:
        return self.say(case)

    async def ahead(self, case: Case, /) -> Answer:
        return self.say(case)


def run(task: Task, answerer: Answerer, markers: Markers = RGB_MARKERS) -> Outcome:
    """Answer and score a task in this thread."""
    return Runner(markers).run(task, CaseExecutor(answerer, Sources(LoopThread()), markers).ask(task, Meter()))


def plain(query: Query) -> str:
    assert query == CASE.query
    return "plain"


async def coroutine(query: Query) -> str:
    await asyncio.sleep(0)
    return f"async {query.question}"


class Plain:
    def __call__(self, query: Query) -> Answer:
        return Answer("object")

    def method(self, query: Query) -> str:
        return "method"


class Async:
    async def __call__(self, query: Query) -> Answer:
        return Answer("async object")


@pytest.mark.parametrize(
    ("system", "text"),
    [
        (plain, "plain"), (coroutine, "async Where?"), (Plain(), "object"), (Plain().method, "method"),
        (Async(), "async object"), (functools.partial(coroutine), "async Where?"),
        (lambda query: coroutine(query), "async Where?"), (lambda query: "", ""),
    ],
)  # fmt: skip
def test_any_kind_of_callable_can_be_a_system(loop: LoopThread, system: Any, text: str) -> None:
    assert SystemAnswerer(system, "mine", loop)(CASE).text == text


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_the_time_of_a_call_is_its_latency(loop: LoopThread, kind: str) -> None:
    def slow(query: Query) -> Answer:
        time.sleep(0.02)
        return Answer("", usage=Usage(prompt_tokens=3))

    async def sleepy(query: Query) -> str:
        await asyncio.sleep(0.02)
        return ""

    usage = SystemAnswerer(slow if kind == "sync" else sleepy, "mine", loop)(CASE).usage
    assert usage is not None
    assert usage.latency_s is not None
    assert 0.015 < usage.latency_s < 5
    assert usage.prompt_tokens == (3 if kind == "sync" else None)


def test_a_latency_from_the_system_is_unchanged(loop: LoopThread) -> None:
    answer = Answer("", usage=Usage(latency_s=0.0))
    assert SystemAnswerer(lambda query: answer, "mine", loop)(CASE) is answer


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_an_exception_of_a_system_is_an_error_of_the_case(loop: LoopThread, kind: str) -> None:
    def broken(query: Query) -> str:
        raise ValueError("no key")

    async def abroken(query: Query) -> str:
        raise ValueError("no key")

    with pytest.raises(CaseError) as caught:
        SystemAnswerer(broken if kind == "sync" else abroken, "mine", loop)(CASE)
    assert caught.value.kind == "system_error"
    first, *rest = str(caught.value).splitlines()
    assert first == "system 'mine' failed on case 'q1': ValueError: no key"
    assert rest[-1].endswith('raise ValueError("no key")')
    assert __file__ in rest[-1]
    assert isinstance(caught.value.__cause__, ValueError)


def test_a_system_that_exits_does_not_end_the_session(loop: LoopThread) -> None:
    def leave(query: Query) -> str:
        raise SystemExit(3)

    async def aleave(query: Query) -> str:
        raise SystemExit(3)

    for system in (leave, aleave):
        with pytest.raises(CaseError, match=r"failed on case 'q1': SystemExit: 3"):
            SystemAnswerer(system, "mine", loop)(CASE)


def test_a_base_exception_of_a_system_is_an_error_of_the_case(loop: LoopThread) -> None:
    class Stop(BaseException):
        pass

    def stopping(query: Query) -> str:
        raise Stop("no more")

    async def astopping(query: Query) -> str:
        raise Stop("no more")

    for system in (stopping, astopping):
        with pytest.raises(CaseError, match=r"system 'mine' failed on case 'q1': Stop: no more"):
            SystemAnswerer(system, "mine", loop)(CASE)


def test_a_skip_is_passed_on(loop: LoopThread) -> None:
    def skipped(query: Query) -> str:
        pytest.skip("not now")

    with pytest.raises(pytest.skip.Exception):
        SystemAnswerer(skipped, "mine", loop)(CASE)


def test_an_interrupt_is_passed_on(loop: LoopThread) -> None:
    def interrupt(query: Query) -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(task(LENGTH), SystemAnswerer(interrupt, "mine", loop))


def test_a_case_error_of_a_system_stays_unchanged(loop: LoopThread) -> None:
    error = CaseError("budget", "too expensive")

    def over_budget(query: Query) -> str:
        raise error

    outcome = run(task(LENGTH), SystemAnswerer(over_budget, "mine", loop))
    assert (outcome.status, outcome.error, outcome.error_type) == ("error", "too expensive", "budget")


@pytest.mark.parametrize(
    "value",
    [
        None,
        3,
        ("a", "b"),
        Answer(cast("str", None)),
        Answer("", ranking=cast("Ranking", ["d1"])),
        Answer("", usage=cast("Usage", {"cost_usd": 1})),
        Answer("", usage=Usage(cost_usd=cast("float", "1"))),
    ],
)
def test_an_invalid_return_value_of_a_system_is_raised(loop: LoopThread, value: Any) -> None:
    with pytest.raises(SystemContractError, match="'mine' returned"):
        run(task(LENGTH), SystemAnswerer(lambda query: value, "mine", loop))


def test_an_answer_is_scored_by_every_metric_in_order() -> None:
    samples: list[Sample] = []

    def record(sample: Sample) -> Score:
        samples.append(sample)
        return Score.not_applicable()

    markers = Markers({}, {})
    outcome = run(task(LENGTH, Metric("record", record)), FunctionAnswerer(lambda case: Answer("four")), markers)
    assert list(outcome.scores.items()) == [("length", Score(0.4)), ("record", Score.not_applicable())]
    assert samples == [Sample(CASE, Answer("four"), markers)]
    assert (outcome.status, outcome.error, outcome.error_type) == ("scored", None, None)
    assert (outcome.nodeid, outcome.case_id, outcome.testbed, outcome.system, outcome.facets) == (
        "test_a.py::test_a[q1]", "q1", "test_a.py::test_a", "mine", {"topic": "A"},
    )  # fmt: skip
    assert outcome.supplied == ("n0", "p0")
    assert outcome.answer == Answer("four")


def test_no_answer_is_an_error_without_scores() -> None:
    def none(case: Case) -> Answer:
        raise CaseError("no_recorded_answer", "there is none")

    outcome = run(task(LENGTH), FunctionAnswerer(none))
    assert (outcome.status, outcome.answer, outcome.scores) == ("error", None, {})
    assert (outcome.error, outcome.error_type, outcome.supplied) == (
        "there is none",
        "no_recorded_answer",
        ("n0", "p0"),
    )


def broken(sample: Sample) -> Score:
    raise ZeroDivisionError("of nothing")


@pytest.mark.parametrize(
    ("compute", "message"),
    [
        (broken, "metric 'mine' failed on case 'q1': ZeroDivisionError: of nothing"),
        (lambda sample: 0.5, "metric 'mine' returned 0.5 for case 'q1'; it must return a Score"),
        (lambda sample: Score(float("nan")), "metric 'mine' failed on case 'q1': ValueError: a Score's value"),
    ],
)  # fmt: skip
def test_a_failing_metric_is_an_error_with_the_scores_so_far(compute: Any, message: str) -> None:
    outcome = run(task(LENGTH, Metric("mine", compute), LENGTH), FunctionAnswerer(lambda case: Answer("four")))
    assert (outcome.status, outcome.error_type) == ("error", "metric_error")
    assert (outcome.error or "").startswith(message)
    assert outcome.answer == Answer("four")
    assert outcome.scores == {"length": Score(0.4)}


def test_only_the_ranking_is_scored_if_no_answer_was_generated() -> None:
    places = Metric("places", lambda sample: Score(len(sample.answer.ranking or ()) / 10), of="retrieval")
    of_both = Metric("both", LENGTH.compute, of="both")
    answer = Answer("", Ranking((ScoredPassage("d1"),)), generated=False)
    outcome = run(task(LENGTH, of_both, places), FunctionAnswerer(lambda case: answer))
    unscored = Score(reason="no_texts")
    assert (outcome.status, outcome.scores) == (
        "scored", {"length": unscored, "both": unscored, "places": Score(0.1)}
    )  # fmt: skip


def test_the_texts_of_the_pool_are_stored_once() -> None:
    ranking = Ranking((ScoredPassage("p0", 2.0, "evidence", "title"), ScoredPassage("x9", 1.0, "elsewhere", "other")))
    outcome = run(task(), FunctionAnswerer(lambda case: Answer("", ranking)))
    assert outcome.answer is not None
    assert outcome.answer.ranking == Ranking((ScoredPassage("p0", 2.0), ScoredPassage("x9", 1.0, "elsewhere", "other")))
