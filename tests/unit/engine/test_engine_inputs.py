"""A scoring input is one declaration: asking, look-ahead, estimates, samples and checks follow from it."""

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


def desk(loop: LoopThread, llm: ChatModel | None = None, *, light: bool = False) -> CaseExecutor:
    answerer = SystemAnswerer(lambda query: Answer("Paris"), "mine", loop, CallLimit(1), light=light)
    return CaseExecutor(answerer, Sources(loop, judge=llm), RGB_MARKERS)


def both(loop: LoopThread, made: CaseExecutor, task: Task = TASK) -> tuple[CaseResponses, CaseResponses]:
    """Ask in turn and ahead."""
    return made.ask(task, Meter()), loop.run(made.ask_ahead(task, Meter()))


def test_a_registered_input_is_asked_in_turn_and_ahead_and_reaches_the_sample(
    loop: LoopThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(monkeypatch, WORDING)
    llm = ScriptedLLM("It lies in Paris.")
    for asked in both(loop, desk(loop, llm)):
        assert dict(asked.inputs) == {"wording": "It lies in Paris."}
        sample = Runner(RGB_MARKERS).sample(TASK, asked.inputs, Answer("Paris"))
        assert dict(sample.inputs) == {"wording": "It lies in Paris."}
        assert Runner(RGB_MARKERS).run(TASK, asked).scores["same_words"] == Score(1.0)
    assert [tuple(sent.messages) for sent in llm.requests] == [request("Paris")] * 2


def test_a_resumed_run_takes_over_the_replies_for_an_input(
    loop: LoopThread, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    register(monkeypatch, WORDING)

    def asked(process: str, llm: ScriptedLLM, rows: Sequence[Mapping[str, Any]]) -> CaseResponses:
        judge = Client(llm, name="scripted", kind="judge", limiter=Limiter(9), retry=RetryPolicy())
        journal = Journal(journal_path(tmp_path, process), EarlierCalls(rows))
        return replace(desk(loop, judge), journal=journal).ask(TASK, Meter())

    asked("first", ScriptedLLM("It lies in Paris."), ())
    again = ScriptedLLM("never asked")
    assert asked("second", again, paid_by_run(tmp_path, ()).rows).inputs == {"wording": "It lies in Paris."}
    assert again.requests == ()
    calls = {call.number: call for call in read_journal(journal_path(tmp_path, "first"))}
    assert [(call.kind, call.within and calls[call.within].kind) for call in calls.values()] == [
        ("judging", 0), ("judge", "judging"),
    ]  # fmt: skip


def test_without_its_model_the_sample_lacks_the_input(loop: LoopThread, monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, WORDING)
    for asked in both(loop, desk(loop)):
        assert dict(asked.inputs) == {}
        assert Runner(RGB_MARKERS).run(TASK, asked).scores["same_words"].reason == "judge_unavailable"


def test_nobody_is_asked_for_an_input_that_no_metric_needs(loop: LoopThread, monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, WORDING)
    llm = ScriptedLLM("so")
    for asked in both(loop, desk(loop, llm), replace(TASK, metrics=(ACCURACY,))):
        assert dict(asked.inputs) == {}
    assert llm.requests == ()


def test_models_are_not_asked_about_an_answer_that_was_not_generated(
    loop: LoopThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(monkeypatch, WORDING)
    llm = ScriptedLLM("so")
    answerer = SystemAnswerer(lambda query: Answer("", generated=False), "mine", loop, CallLimit(1))
    for asked in both(loop, CaseExecutor(answerer, Sources(loop, judge=llm), RGB_MARKERS)):
        assert dict(asked.inputs) == {}
    assert llm.requests == ()


def test_a_fast_system_is_asked_ahead_because_of_an_input_from_models(
    loop: LoopThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(monkeypatch, WORDING)
    assert desk(loop, light=True).goes_ahead(TASK)
    register(monkeypatch, replace(WORDING, ask=lambda context: "from the system"))
    assert not desk(loop, light=True).goes_ahead(TASK)


def test_an_input_from_the_system_is_asked_in_the_tests_thread(
    loop: LoopThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(monkeypatch, replace(WORDING, ask=lambda context: f"again: {context.sample.answer.text}"))
    in_turn, ahead = both(loop, desk(loop, ScriptedLLM("ahead")))
    assert dict(in_turn.inputs) == {"wording": "again: Paris"}
    assert dict(ahead.inputs) == {"wording": "ahead"}


def test_the_estimate_counts_the_calls_of_a_registered_input(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, WORDING)
    judge = PricedModel("openai/j", lambda messages: (7, True), lambda sent, got: 0.5, 10, lambda *request: False)
    plan = PlannedTask(TASK, lambda query: NO_CALLS, None, judge)
    _, found = estimates([plan, plan], load_prompts())
    assert (found.what, found.model, found.cases, found.calls) == ("other wording", "openai/j", 2, 2)
    assert (found.prompt_tokens, found.cost_usd) == (14, 1.0)
    (answer,) = estimates([replace(plan, task=replace(TASK, metrics=(ACCURACY,)))], load_prompts())
    assert answer.what == "answer"


def test_an_input_that_raises_is_an_error_of_the_case(loop: LoopThread, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails(context: Context) -> str:
        raise ValueError("odd wording")

    register(monkeypatch, replace(WORDING, ask_ahead=fails))
    for asked in both(loop, desk(loop)):
        ended = Runner(RGB_MARKERS).run(TASK, asked)
        assert (ended.status, ended.error_type, ended.answer) == ("error", "input_error", asked.answer)
        assert str(ended.error).startswith("the scoring input 'wording' failed on case 'q1': ValueError: odd wording")


def collected(*metrics: str) -> Testbed:
    """Complete a testbed of these metrics, as collection does."""
    catalog, no_options = Catalog(), cast("Any", SimpleNamespace(diagnosis=None))
    catalog.metrics.register("same_words", SAME_WORDS)
    settings = parse_settings({"dataset": "jsonl:cases.jsonl", "metrics": list(metrics)}, "t.py:1")
    testbed = Testbed("t.py::t", "t", "", settings, seed=0, asserts=False)
    add_metrics_and_gates(testbed, [CASE], catalog, no_options)
    return testbed


def test_an_input_that_a_testbed_cannot_use_is_refused_at_collection(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, WORDING)
    with pytest.raises(SettingError, match=r"^t\.py:1: same_words needs accuracy beside it$"):
        collected("same_words")
    assert not collected("accuracy", "same_words").embeds
    register(monkeypatch, replace(WORDING, embeds=True))
    assert collected("accuracy", "same_words").embeds
    assert not collected("accuracy").embeds


def test_a_testbed_also_computes_the_metrics_that_cross_check_an_input(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, replace(WORDING, cross_checks=lambda cases: ["exact_match"] if CASE in cases else []))
    assert [*collected("accuracy", "same_words").metrics] == ["accuracy", "same_words", "exact_match"]
    assert [*collected("accuracy").metrics] == ["accuracy"]


def test_a_metric_that_needs_an_unknown_input_cannot_be_registered() -> None:
    problem = r"its needs name the unknown scoring input 'verdict'; did you mean 'verdicts'\?$"
    with pytest.raises(SettingError, match=problem):
        Catalog().metrics.register("mine", Metric("mine", same_words, needs=("verdict",)))
    Catalog().metrics.register("mine", Metric("mine", same_words, needs=("verdicts", "closed_book")))


def test_built_in_metrics_name_inputs_that_are_declared() -> None:
    metrics = Catalog().metrics
    assert {need for name in metrics for need in metrics.get(name).needs} <= {each.name for each in INPUTS}


def test_metrics_need_the_inputs_that_they_read() -> None:
    def needed(*metrics: Metric) -> list[str]:
        return [each.name for each in inputs_of(metrics)]

    worth = erag_metric("erag:P@2", "erag", lambda name: ACCURACY)
    assert needed(ACCURACY) == []
    assert needed(ACCURACY, worth) == ["labels"]
    assert needed(ACCURACY_JUDGED) == ["verdicts"]
    assert needed(SEMANTIC_SIMILARITY, CLOSED_BOOK_ACCURACY, ACCURACY_JUDGED) == ["verdicts", "closed_book", "vectors"]
    assert needed(Metric("mine", same_words, needs=("closed_book",))) == ["closed_book"]
    assert Metric("mine", same_words, needs=("closed_book",)).downstream


def test_a_sample_takes_an_input_into_its_field_or_into_inputs() -> None:
    sample = Sample(CASE, Answer("Paris")).with_inputs({"closed_book": Answer("Rome"), "wording": "so"})
    assert sample.closed_book == Answer("Rome")
    assert dict(sample.inputs) == {"wording": "so"}
    assert sample.vectors is None


def test_no_input_takes_the_name_of_the_case_or_the_answer() -> None:
    names = [each.name for each in INPUTS]
    assert len({*names, "case", "answer", "markers", "inputs"}) == len(names) + 4
