"""Answers from each document alone: one request each, concurrent if possible, charged to the first case."""

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
RANKING = Ranking((ScoredPassage("a", 1.0, "Rome"), ScoredPassage("b", 2.0, "Paris"), ScoredPassage("c", 0.5, "Lima")))


def _no_lookup(name: str) -> Metric:
    raise AssertionError(name)


UTILITY = erag_metric("erag:P@2", "erag", _no_lookup)


@pytest.fixture
def loop() -> Iterator[LoopThread]:
    thread = LoopThread()
    yield thread
    thread.close()


class Reader:
    """A system that returns `RANKING`, or answers from the one supplied passage; it records its requests."""

    def __init__(self, fails: str = "") -> None:
        self.requests: list[Query] = []
        self.threads: set[str] = set()
        self.fails = fails
        self.in_flight = self.peak = 0

    def answer(self, query: Query) -> Answer:
        self.requests.append(query)
        self.threads.add(threading.current_thread().name)
        if query.passages is None:
            return Answer("Paris", RANKING, usage=Usage(100, 10, 1.0))
        (passage,) = query.passages
        if passage.id == self.fails:
            raise ValueError("torn page")
        return Answer(passage.text, usage=Usage(10, 1, 0.25))

    async def wait(self, query: Query) -> Answer:
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        await asyncio.sleep(0.01)
        self.in_flight -= 1
        return self.answer(query)

    @property
    def alone(self) -> list[str]:
        return [query.passages[0].id for query in self.requests if query.passages]


def executor_of(loop: LoopThread | NoLoop, system: Any, most: int = 2) -> CaseExecutor:
    answerer = SystemAnswerer(system, "mine", loop, CallLimit(most))
    return CaseExecutor(answerer, Sources(loop, OnceCache(answerer)), RGB_MARKERS)


def task(*metrics: Metric, case: Case = CASE) -> Task:
    return Task(f"t.py::t[{case.id}]", "t.py::t", "mine", case, metrics or (ACCURACY, UTILITY))


def outcome(responses: CaseResponses, task_of_case: Task | None = None) -> Outcome:
    return Runner(RGB_MARKERS).run(task_of_case or task(), responses)


@pytest.mark.parametrize("mode", ["sync", "async", "ahead", "sync ahead"])
def test_each_document_is_requested_once_and_charged(loop: LoopThread, mode: str) -> None:
    reader = Reader()
    executor = executor_of(loop, reader.answer if mode == "sync" or mode == "sync ahead" else reader.wait)
    meter = Meter()
    responses = loop.run(executor.ask_ahead(task(), meter)) if "ahead" in mode else executor.ask(task(), meter)
    scores = outcome(responses).scores
    assert (scores["accuracy"].value, scores["erag:P@2"].value) == (1.0, 0.5)
    assert sorted(reader.alone) == ["a", "b", "c"]
    assert responses.calls == Calls(4, 0, 4, 130, 13, 1.75, 1.75)
    assert responses.answer is not None
    assert responses.answer.usage is not None
    assert responses.answer.usage.prompt_tokens == 100
    if mode == "sync":
        assert reader.threads == {threading.current_thread().name}
    if mode in ("async", "ahead"):
        assert reader.peak == 2  # the limit of concurrent calls


def test_documents_are_requested_by_rank_with_an_otherwise_unchanged_query(loop: LoopThread) -> None:
    reader = Reader()
    history = (Turn("Who?", "Me."),)
    instance = replace(CASE.instance, history=history, language="zh")
    executor = executor_of(loop, reader.answer)
    executor.ask(task(case=replace(CASE, instance=instance, instructions="Be brief.")), Meter())
    assert reader.alone == ["b", "a", "c"]
    assert reader.requests[1] == Query("Where?", (Passage("b", "Paris"),), history, "zh", "Be brief.")


def test_concurrent_requests_for_one_answer_share_one_call(loop: LoopThread) -> None:
    reader = Reader()
    executor = executor_of(loop, reader.wait, most=99)
    meters = [Meter() for _ in range(5)]

    async def together() -> list[CaseResponses]:
        return await asyncio.gather(*(executor.ask_ahead(task(), meter) for meter in meters))

    all_responses = loop.run(together())
    assert sorted(reader.alone) == ["a", "b", "c"]
    assert {outcome(responses).scores["erag:P@2"].value for responses in all_responses} == {0.5}
    assert sorted(meter.calls.calls for meter in meters) == [1, 1, 1, 1, 4]
    executor.ask(task(), Meter())
    assert len(reader.alone) == 3
    executor.ask(task(case=replace(CASE, facets={"repeat": "2"})), Meter())  # another repeat has separate requests
    assert len(reader.alone) == 6


def test_a_request_is_repeated_if_the_one_it_waits_for_is_cancelled(loop: LoopThread) -> None:
    reader = Reader()
    executor = executor_of(loop, reader.wait, most=99)

    async def together() -> CaseResponses:
        first = asyncio.ensure_future(executor.ask_ahead(task(), Meter()))
        second = asyncio.ensure_future(executor.ask_ahead(task(), Meter()))
        await asyncio.sleep(0.015)  # both have an answer; the documents of the first are requested
        first.cancel()
        return await second

    assert outcome(loop.run(together())).scores["erag:P@2"].value == 0.5


@pytest.mark.parametrize("mode", ["sync", "ahead"])
def test_a_failing_document_is_named_and_the_other_answers_are_stored(loop: LoopThread, mode: str) -> None:
    reader = Reader(fails="a")
    executor = executor_of(loop, reader.answer if mode == "sync" else reader.wait)
    meter = Meter()
    responses = executor.ask(task(), meter) if mode == "sync" else loop.run(executor.ask_ahead(task(), meter))
    result = outcome(responses)
    assert (result.status, result.error_type, result.answer is not None) == ("error", "system_error", True)
    assert "system 'mine' failed on case 'q1': ValueError: torn page" in str(result.error)
    assert str(result.error).endswith("(asked from the document 'a' alone)")
    reader.fails, before = "", len(reader.alone)
    assert outcome(executor.ask(task(), Meter())).status == "scored"
    assert sorted(reader.alone[before:]) == (["a", "c"] if mode == "sync" else ["a"])


def test_a_replay_needs_no_loop() -> None:
    reader = Reader()

    async def replayed(query: Query) -> Answer:
        return reader.answer(query)

    responses = executor_of(NoLoop(), replayed).ask(task(), Meter())
    assert outcome(responses).scores["erag:P@2"].value == 0.5


def test_a_label_without_a_value_gives_its_reason(loop: LoopThread) -> None:
    unsure = Metric("unsure", lambda sample: Score(1.0) if sample.answer.text == "Paris" else Score(reason="unsure"))
    scored_task = task(unsure, UTILITY)
    assert (
        outcome(executor_of(loop, Reader().answer).ask(scored_task, Meter()), scored_task).scores["erag:P@2"].reason
        == "unsure"
    )


def test_a_label_of_nan_is_an_error_of_the_case(loop: LoopThread) -> None:
    scored_task = task(
        Metric("odd", lambda sample: Score(1.0 if sample.case.supplied is None else float("nan"))), UTILITY
    )
    result = outcome(executor_of(loop, Reader().answer).ask(scored_task, Meter()), scored_task)
    assert (result.status, result.error_type) == ("error", "metric_error")
    assert "metric 'odd' failed on case 'q1': ValueError: a Score's value is a finite number, not nan" in str(
        result.error
    )


def test_no_document_is_requested_without_a_ranking_or_texts(loop: LoopThread) -> None:
    for ranking in (Ranking(), None, Ranking((ScoredPassage("a", text="Rome"), ScoredPassage("b")))):
        queries: list[Query] = []

        def system(query: Query, documents: Ranking | None = ranking, queries: list[Query] = queries) -> Answer:
            queries.append(query)
            return Answer("Paris", documents)

        executor = executor_of(loop, system)
        score = outcome(executor.ask(task(), Meter())).scores["erag:P@2"]
        assert len(queries) == 1
        expected = {0: (0.0, None), None: (None, "no_ranking"), 2: (None, "no_texts")}
        assert (score.value, score.reason) == expected[None if ranking is None else len(ranking)]


def test_a_duplicate_document_is_an_error_before_any_call(loop: LoopThread) -> None:
    duplicate = Ranking((ScoredPassage("a", text="Rome"), ScoredPassage("a", text="Rome")))
    responses = executor_of(loop, lambda query: Answer("Paris", duplicate)).ask(task(), Meter())
    assert isinstance(responses.error, CaseError)
    assert responses.error.kind == "bad_ranking"
    assert str(responses.error).startswith("case 'q1': the ranking has the document 'a' at ranks 1 and 2")


def test_metrics_without_labels_request_no_documents(loop: LoopThread) -> None:
    reader = Reader()
    responses = executor_of(loop, reader.answer).ask(task(ACCURACY), Meter())
    assert (reader.alone, dict(responses.inputs)) == ([], {})
