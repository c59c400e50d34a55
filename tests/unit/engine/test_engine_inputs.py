"""A scoring input declares requests, look-ahead, estimates, samples and checks in one place."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pytest_rageval.engine.answerers import SystemAnswerer
from pytest_rageval.engine.case_executor import CaseExecutor, CaseResponses
from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.engine.estimate import estimates
from pytest_rageval.engine.inputs import inputs_of, table
from pytest_rageval.engine.inputs.scoring_input import Context, ScoringInput, Sources
from pytest_rageval.engine.inputs.table import INPUTS
from pytest_rageval.engine.loop import LoopThread
from pytest_rageval.engine.planned_calls import PlannedCall, PlannedTask, PricedModel
from pytest_rageval.engine.runner import Runner
from pytest_rageval.engine.task import Task
from pytest_rageval.errors import SettingError
from pytest_rageval.hooks.collect.metrics_and_gates import add_metrics_and_gates
from pytest_rageval.hooks.collect.testbed import Testbed
from pytest_rageval.llm.backends.scripted import ScriptedLLM
from pytest_rageval.llm.client.clients import Client
from pytest_rageval.llm.client.earlier_calls import EarlierCalls
from pytest_rageval.llm.client.journal import Journal
from pytest_rageval.llm.client.rate_limiter import Limiter
from pytest_rageval.llm.client.retry import RetryPolicy
from pytest_rageval.llm.client.usage_meter import Meter
from pytest_rageval.metrics.answers.closed_book import CLOSED_BOOK_ACCURACY
from pytest_rageval.metrics.answers.containment import ACCURACY
from pytest_rageval.metrics.answers.semantic import SEMANTIC_SIMILARITY
from pytest_rageval.metrics.judges.omnieval_judged import ACCURACY_JUDGED
from pytest_rageval.metrics.rankings.utility import erag_metric
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case, Instance
from pytest_rageval.model.chat import ChatModel, Message
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.phrases import RGB_MARKERS
from pytest_rageval.model.sample import Sample
from pytest_rageval.report.files.journals import journal_path, read_journal
from pytest_rageval.report.files.paid_calls import paid_by_run
from pytest_rageval.systems.prompting import Prompts, load_prompts
from pytest_rageval.systems.workflow import NO_CALLS
from pytest_rageval.testbeds.settings import parse_settings
from pytest_rageval.threads import CallLimit

CASE = Case("q1", Instance("q1", "Where?", (("Paris",),)), None, {})


def request(answer: str) -> tuple[Message, ...]:
    return ({"role": "user", "content": f"Say it in other words: {answer}"},)


async def ask_ahead(context: Context) -> str | None:
    """Ask the judge's model for another wording of the answer."""
    if context.sources.judge is None:
        return None
    return (await context.sources.judge.complete(request(context.sample.answer.text))).text


def estimate(planned: PlannedTask, prompts: Prompts) -> Iterator[PlannedCall]:
    yield PlannedCall("other wording", planned.judge, request("word " * 10), final=False)


def check(metrics: Collection[Metric]) -> None:
    if ACCURACY not in metrics:
        raise SettingError("same_words needs accuracy beside it")


WORDING = ScoringInput("wording", ask_ahead, estimate=estimate, check=check)


def same_words(sample: Sample) -> Score:
    wording: str | None = sample.inputs.get("wording")
    return Score(reason="judge_unavailable") if wording is None else Score(float("Paris" in wording))


SAME_WORDS = Metric("same_words", same_words, needs=("wording",))
TASK = Task("t.py::t[q1]", "t.py::t", "mine", CASE, (ACCURACY, SAME_WORDS))


@pytest.fixture
def loop() -> Iterator[LoopThread]:
    thread = LoopThread()
    yield thread
    thread.close()


def register(monkeypatch: pytest.MonkeyPatch, more: ScoringInput) -> None:
    monkeypatch.setattr(table, "INPUTS", (*INPUTS, more))


def executor_of(loop: LoopThread, llm: ChatModel | None = None, *, light: bool = False) -> CaseExecutor:
    answerer = SystemAnswerer(lambda query: Answer("Paris"), "mine", loop, CallLimit(1), light=light)
    return CaseExecutor(answerer, Sources(loop, judge=llm), RGB_MARKERS)


def ask_both_ways(loop: LoopThread, executor: CaseExecutor, task: Task = TASK) -> tuple[CaseResponses, CaseResponses]:
    """Return the responses in turn and ahead."""
    return executor.ask(task, Meter()), loop.run(executor.ask_ahead(task, Meter()))


def test_a_registered_input_is_requested_in_turn_and_ahead_and_reaches_the_sample(
    loop: LoopThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(monkeypatch, WORDING)
    llm = ScriptedLLM("It lies in Paris.")
    for responses in ask_both_ways(loop, executor_of(loop, llm)):
        assert dict(responses.inputs) == {"wording": "It lies in Paris."}
        sample = Runner(RGB_MARKERS).sample(TASK, responses.inputs, Answer("Paris"))
        assert dict(sample.inputs) == {"wording": "It lies in Paris."}
        assert Runner(RGB_MARKERS).run(TASK, responses).scores["same_words"] == Score(1.0)
    assert [tuple(each.messages) for each in llm.requests] == [request("Paris")] * 2


def test_a_resumed_run_reuses_the_replies_for_an_input(
    loop: LoopThread, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    register(monkeypatch, WORDING)

    def ask(process: str, llm: ScriptedLLM, rows: Sequence[Mapping[str, Any]]) -> CaseResponses:
        judge = Client(llm, name="scripted", kind="judge", limiter=Limiter(9), retry=RetryPolicy())
        journal = Journal(journal_path(tmp_path, process), EarlierCalls(rows))
        return replace(executor_of(loop, judge), journal=journal).ask(TASK, Meter())

    ask("first", ScriptedLLM("It lies in Paris."), ())
    second_llm = ScriptedLLM("never asked")
    assert ask("second", second_llm, paid_by_run(tmp_path, ()).rows).inputs == {"wording": "It lies in Paris."}
    assert second_llm.requests == ()
    calls = {call.number: call for call in read_journal(journal_path(tmp_path, "first"))}
    assert [(call.kind, call.within and calls[call.within].kind) for call in calls.values()] == [
        ("judging", 0), ("judge", "judging"),
    ]  # fmt: skip


def test_an_input_is_missing_without_its_model(loop: LoopThread, monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, WORDING)
    for responses in ask_both_ways(loop, executor_of(loop)):
        assert dict(responses.inputs) == {}
        assert Runner(RGB_MARKERS).run(TASK, responses).scores["same_words"].reason == "judge_unavailable"


def test_an_input_that_no_metric_needs_is_not_requested(loop: LoopThread, monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, WORDING)
    llm = ScriptedLLM("so")
    for responses in ask_both_ways(loop, executor_of(loop, llm), replace(TASK, metrics=(ACCURACY,))):
        assert dict(responses.inputs) == {}
    assert llm.requests == ()


def test_models_are_not_asked_about_an_answer_that_was_not_generated(
    loop: LoopThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(monkeypatch, WORDING)
    llm = ScriptedLLM("so")
    answerer = SystemAnswerer(lambda query: Answer("", generated=False), "mine", loop, CallLimit(1))
    for responses in ask_both_ways(loop, CaseExecutor(answerer, Sources(loop, judge=llm), RGB_MARKERS)):
        assert dict(responses.inputs) == {}
    assert llm.requests == ()


def test_a_fast_system_is_asked_ahead_because_of_an_input_from_models(
    loop: LoopThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(monkeypatch, WORDING)
    assert executor_of(loop, light=True).goes_ahead(TASK)
    register(monkeypatch, replace(WORDING, ask=lambda context: "from the system"))
    assert not executor_of(loop, light=True).goes_ahead(TASK)


def test_an_input_from_the_system_is_requested_in_the_thread_of_the_test(
    loop: LoopThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(monkeypatch, replace(WORDING, ask=lambda context: f"again: {context.sample.answer.text}"))
    in_turn, ahead = ask_both_ways(loop, executor_of(loop, ScriptedLLM("ahead")))
    assert dict(in_turn.inputs) == {"wording": "again: Paris"}
    assert dict(ahead.inputs) == {"wording": "ahead"}


def test_the_estimate_counts_the_calls_of_a_registered_input(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, WORDING)
    judge = PricedModel("openai/j", lambda messages: (7, True), lambda prompt, reply: 0.5, 10, lambda *request: False)
    plan = PlannedTask(TASK, lambda query: NO_CALLS, None, judge)
    _, wording_calls = estimates([plan, plan], load_prompts())
    assert (wording_calls.what, wording_calls.model, wording_calls.cases, wording_calls.calls) == (
        "other wording",
        "openai/j",
        2,
        2,
    )
    assert (wording_calls.prompt_tokens, wording_calls.cost_usd) == (14, 1.0)
    (answer,) = estimates([replace(plan, task=replace(TASK, metrics=(ACCURACY,)))], load_prompts())
    assert answer.what == "answer"


def test_an_input_that_raises_is_an_error_of_the_case(loop: LoopThread, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails(context: Context) -> str:
        raise ValueError("odd wording")

    register(monkeypatch, replace(WORDING, ask_ahead=fails))
    for responses in ask_both_ways(loop, executor_of(loop)):
        outcome = Runner(RGB_MARKERS).run(TASK, responses)
        assert (outcome.status, outcome.error_type, outcome.answer) == ("error", "input_error", responses.answer)
        assert str(outcome.error).startswith("the scoring input 'wording' failed on case 'q1': ValueError: odd wording")


def collect(*metrics: str) -> Testbed:
    """Return a testbed with these metrics, completed in the same way as at collection."""
    catalog, no_options = Catalog(), cast("Any", SimpleNamespace(diagnosis=None))
    catalog.metrics.register("same_words", SAME_WORDS)
    settings = parse_settings({"dataset": "jsonl:cases.jsonl", "metrics": list(metrics)}, "t.py:1")
    testbed = Testbed("t.py::t", "t", "", settings, seed=0, asserts=False)
    add_metrics_and_gates(testbed, [CASE], catalog, no_options)
    return testbed


def test_an_input_that_a_testbed_cannot_use_is_refused_at_collection(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, WORDING)
    with pytest.raises(SettingError, match=r"^t\.py:1: same_words needs accuracy beside it$"):
        collect("same_words")
    assert not collect("accuracy", "same_words").embeds
    register(monkeypatch, replace(WORDING, embeds=True))
    assert collect("accuracy", "same_words").embeds
    assert not collect("accuracy").embeds


def test_a_testbed_also_computes_the_metrics_that_cross_check_an_input(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, replace(WORDING, cross_checks=lambda cases: ["exact_match"] if CASE in cases else []))
    assert [*collect("accuracy", "same_words").metrics] == ["accuracy", "same_words", "exact_match"]
    assert [*collect("accuracy").metrics] == ["accuracy"]


def test_a_metric_that_needs_an_unknown_input_cannot_be_registered() -> None:
    problem = r"its needs name the unknown scoring input 'verdict'; did you mean 'verdicts'\?$"
    with pytest.raises(SettingError, match=problem):
        Catalog().metrics.register("mine", Metric("mine", same_words, needs=("verdict",)))
    Catalog().metrics.register("mine", Metric("mine", same_words, needs=("verdicts", "closed_book")))


def test_built_in_metrics_need_only_declared_inputs() -> None:
    metrics = Catalog().metrics
    assert {need for name in metrics for need in metrics.get(name).needs} <= {each.name for each in INPUTS}


def test_metrics_need_the_inputs_that_they_read() -> None:
    def names_of_inputs(*metrics: Metric) -> list[str]:
        return [each.name for each in inputs_of(metrics)]

    utility = erag_metric("erag:P@2", "erag", lambda name: ACCURACY)
    assert names_of_inputs(ACCURACY) == []
    assert names_of_inputs(ACCURACY, utility) == ["labels"]
    assert names_of_inputs(ACCURACY_JUDGED) == ["verdicts"]
    assert names_of_inputs(SEMANTIC_SIMILARITY, CLOSED_BOOK_ACCURACY, ACCURACY_JUDGED) == [
        "verdicts",
        "closed_book",
        "vectors",
    ]
    assert names_of_inputs(Metric("mine", same_words, needs=("closed_book",))) == ["closed_book"]
    assert Metric("mine", same_words, needs=("closed_book",)).downstream


def test_an_input_is_stored_in_its_field_of_the_sample_or_in_inputs() -> None:
    sample = Sample(CASE, Answer("Paris")).with_inputs({"closed_book": Answer("Rome"), "wording": "so"})
    assert sample.closed_book == Answer("Rome")
    assert dict(sample.inputs) == {"wording": "so"}
    assert sample.vectors is None


def test_no_input_has_the_name_of_another_field_of_the_sample() -> None:
    names = [each.name for each in INPUTS]
    assert len({*names, "case", "answer", "markers", "inputs"}) == len(names) + 4
