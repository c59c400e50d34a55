"""Documents asked for alone: each once, all at a time where the system waits, and charged to who asked first."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from pytest_rageval.engine.answerers import SystemAnswerer
from pytest_rageval.engine.case_executor import CaseExecutor, CaseResponses
from pytest_rageval.engine.inputs.scoring_input import Sources
from pytest_rageval.engine.loop import LoopThread, NoLoop
from pytest_rageval.engine.once_cache import OnceCache
from pytest_rageval.engine.runner import Runner
from pytest_rageval.engine.task import Task
from pytest_rageval.errors import CaseError
from pytest_rageval.llm.client.usage_meter import Meter
from pytest_rageval.metrics.answers.containment import ACCURACY
from pytest_rageval.metrics.rankings.utility import erag_metric
from pytest_rageval.model.answer import Answer, Usage
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.case import Case, Instance, Passage, Query, Turn
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Outcome, Score
from pytest_rageval.model.phrases import RGB_MARKERS
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.threads import CallLimit

CASE = Case("q1", Instance("q1", "Where?", (("Paris",),)), None, {})
FOUND = Ranking((ScoredPassage("a", 1.0, "Rome"), ScoredPassage("b", 2.0, "Paris"), ScoredPassage("c", 0.5, "Lima")))


def _none(name: str) -> Metric:
    raise AssertionError(name)


WORTH = erag_metric("erag:P@2", "erag", _none)


@pytest.fixture
def loop() -> Iterator[LoopThread]:
    thread = LoopThread()
    yield thread
    thread.close()


class Reader:
    """A system that finds `FOUND`, and answers with the one passage it is given; it notes what it was asked."""

    def __init__(self, fails: str = "") -> None:
        self.asked: list[Query] = []
        self.threads: set[str] = set()
        self.fails = fails
        self.in_flight = self.most = 0

    def answer(self, query: Query) -> Answer:
        self.asked.append(query)
        self.threads.add(threading.current_thread().name)
        if query.passages is None:
            return Answer("Paris", FOUND, usage=Usage(100, 10, 1.0))
        (passage,) = query.passages
        if passage.id == self.fails:
            raise ValueError("torn page")
        return Answer(passage.text, usage=Usage(10, 1, 0.25))

    async def wait(self, query: Query) -> Answer:
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        await asyncio.sleep(0.01)
        self.in_flight -= 1
        return self.answer(query)

    @property
    def alone(self) -> list[str]:
        return [query.passages[0].id for query in self.asked if query.passages]


def desk(loop: LoopThread | NoLoop, system: Any, most: int = 2) -> CaseExecutor:
    answerer = SystemAnswerer(system, "mine", loop, CallLimit(most))
    return CaseExecutor(answerer, Sources(loop, OnceCache(answerer)), RGB_MARKERS)


def task(*metrics: Metric, case: Case = CASE) -> Task:
    return Task(f"t.py::t[{case.id}]", "t.py::t", "mine", case, metrics or (ACCURACY, WORTH))


def outcome(asked: CaseResponses, of: Task | None = None) -> Outcome:
    return Runner(RGB_MARKERS).run(of or task(), asked)


@pytest.mark.parametrize("how", ["sync", "async", "ahead", "sync ahead"])
def test_every_document_is_asked_for_once_and_charged(loop: LoopThread, how: str) -> None:
    reader = Reader()
    made = desk(loop, reader.answer if how == "sync" or how == "sync ahead" else reader.wait)
    meter = Meter()
    asked = loop.run(made.ask_ahead(task(), meter)) if "ahead" in how else made.ask(task(), meter)
    scores = outcome(asked).scores
    assert (scores["accuracy"].value, scores["erag:P@2"].value) == (1.0, 0.5)
    assert sorted(reader.alone) == ["a", "b", "c"]
    assert asked.calls == Calls(4, 0, 4, 130, 13, 1.75, 1.75)
    assert asked.answer is not None
    assert asked.answer.usage is not None
    assert asked.answer.usage.prompt_tokens == 100
    if how == "sync":
        assert reader.threads == {threading.current_thread().name}
    if how in ("async", "ahead"):
        assert reader.most == 2  # the bound of its coroutines


def test_best_ranks_come_first_and_the_query_is_otherwise_the_same(loop: LoopThread) -> None:
    reader = Reader()
    history = (Turn("Who?", "Me."),)
    instance = replace(CASE.instance, history=history, language="zh")
    made = desk(loop, reader.answer)
    made.ask(task(case=replace(CASE, instance=instance, instructions="Be brief.")), Meter())
    assert reader.alone == ["b", "a", "c"]
    assert reader.asked[1] == Query("Where?", (Passage("b", "Paris"),), history, "zh", "Be brief.")


def test_concurrent_requests_for_one_answer_ask_once(loop: LoopThread) -> None:
    reader = Reader()
    made = desk(loop, reader.wait, most=99)
    meters = [Meter() for _ in range(5)]

    async def together() -> list[CaseResponses]:
        return await asyncio.gather(*(made.ask_ahead(task(), meter) for meter in meters))

    every = loop.run(together())
    assert sorted(reader.alone) == ["a", "b", "c"]
    assert {outcome(asked).scores["erag:P@2"].value for asked in every} == {0.5}
    assert sorted(meter.calls.calls for meter in meters) == [1, 1, 1, 1, 4]
    made.ask(task(), Meter())
    assert len(reader.alone) == 3
    made.ask(task(case=replace(CASE, facets={"repeat": "2"})), Meter())  # another repeat asks for itself
    assert len(reader.alone) == 6


def test_a_request_that_waited_for_a_cancelled_one_asks_itself(loop: LoopThread) -> None:
    reader = Reader()
    made = desk(loop, reader.wait, most=99)

    async def together() -> CaseResponses:
        first = asyncio.ensure_future(made.ask_ahead(task(), Meter()))
        second = asyncio.ensure_future(made.ask_ahead(task(), Meter()))
        await asyncio.sleep(0.015)  # both are answered, and the documents of the first are on their way
        first.cancel()
        return await second

    assert outcome(loop.run(together())).scores["erag:P@2"].value == 0.5


@pytest.mark.parametrize("how", ["sync", "ahead"])
def test_a_failing_document_is_named_and_the_other_answers_are_stored(loop: LoopThread, how: str) -> None:
    reader = Reader(fails="a")
    made = desk(loop, reader.answer if how == "sync" else reader.wait)
    meter = Meter()
    asked = made.ask(task(), meter) if how == "sync" else loop.run(made.ask_ahead(task(), meter))
    ended = outcome(asked)
    assert (ended.status, ended.error_type, ended.answer is not None) == ("error", "system_error", True)
    assert "system 'mine' failed on case 'q1': ValueError: torn page" in str(ended.error)
    assert str(ended.error).endswith("(asked from the document 'a' alone)")
    reader.fails, before = "", len(reader.alone)
    assert outcome(made.ask(task(), Meter())).status == "scored"
    assert sorted(reader.alone[before:]) == (["a", "c"] if how == "sync" else ["a"])


def test_where_all_is_replayed_no_loop_is_needed() -> None:
    reader = Reader()

    async def replayed(query: Query) -> Answer:
        return reader.answer(query)

    asked = desk(NoLoop(), replayed).ask(task(), Meter())
    assert outcome(asked).scores["erag:P@2"].value == 0.5


def test_a_label_without_a_value_gives_its_reason(loop: LoopThread) -> None:
    unsure = Metric("unsure", lambda sample: Score(1.0) if sample.answer.text == "Paris" else Score(reason="unsure"))
    wanted = task(unsure, WORTH)
    assert outcome(desk(loop, Reader().answer).ask(wanted, Meter()), wanted).scores["erag:P@2"].reason == "unsure"


def test_a_label_of_nan_is_an_error_of_the_case(loop: LoopThread) -> None:
    wanted = task(Metric("odd", lambda sample: Score(1.0 if sample.case.supplied is None else float("nan"))), WORTH)
    ended = outcome(desk(loop, Reader().answer).ask(wanted, Meter()), wanted)
    assert (ended.status, ended.error_type) == ("error", "metric_error")
    assert "metric 'odd' failed on case 'q1': ValueError: a Score's value is a finite number, not nan" in str(
        ended.error
    )


def test_nobody_is_asked_where_nothing_is_ranked_or_readable(loop: LoopThread) -> None:
    for ranking in (Ranking(), None, Ranking((ScoredPassage("a", text="Rome"), ScoredPassage("b")))):
        asked: list[Query] = []

        def system(query: Query, found: Ranking | None = ranking, asked: list[Query] = asked) -> Answer:
            asked.append(query)
            return Answer("Paris", found)

        made = desk(loop, system)
        score = outcome(made.ask(task(), Meter())).scores["erag:P@2"]
        assert len(asked) == 1
        wanted = {0: (0.0, None), None: (None, "no_ranking"), 2: (None, "no_texts")}
        assert (score.value, score.reason) == wanted[None if ranking is None else len(ranking)]


def test_a_duplicate_document_is_an_error_before_any_call(loop: LoopThread) -> None:
    twice = Ranking((ScoredPassage("a", text="Rome"), ScoredPassage("a", text="Rome")))
    asked = desk(loop, lambda query: Answer("Paris", twice)).ask(task(), Meter())
    assert isinstance(asked.error, CaseError)
    assert asked.error.kind == "bad_ranking"
    assert str(asked.error).startswith("case 'q1': the ranking has the document 'a' at ranks 1 and 2")


def test_metrics_without_labels_ask_nothing(loop: LoopThread) -> None:
    reader = Reader()
    asked = desk(loop, reader.answer).ask(task(ACCURACY), Meter())
    assert (reader.alone, dict(asked.inputs)) == ([], {})
