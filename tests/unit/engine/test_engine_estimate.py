"""Estimates of the model calls of a session before it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from pytest_rageval.engine.estimate import ASSUMED_OBSERVATION, ASSUMED_REPLY, Estimate, estimates
from pytest_rageval.engine.planned_calls import CallPlanner, PlannedTask, PricedModel
from pytest_rageval.engine.task import Task
from pytest_rageval.judges.panel import Panel
from pytest_rageval.metrics.answers.closed_book import CLOSED_BOOK_ACCURACY
from pytest_rageval.metrics.answers.containment import ACCURACY
from pytest_rageval.metrics.rankings.utility import erag_metric
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case, Instance, Passage
from pytest_rageval.model.chat import Message
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.sample import Sample
from pytest_rageval.model.verdict import Verdict
from pytest_rageval.systems.closed_book import CLOSED_BOOK
from pytest_rageval.systems.extractive import EXTRACTIVE
from pytest_rageval.systems.llm import LLM
from pytest_rageval.systems.parts import SystemParts
from pytest_rageval.systems.prompting import closed_book_messages, load_prompts, messages_for
from pytest_rageval.systems.workflow import AnyWorkflow, PlannedRun

PROMPTS = load_prompts()
SUPPLIED = (Passage("d", "It is in Paris."),)


class KnownJudge:
    """A judge whose messages are known before it is asked."""

    def __init__(self, name: str = "tone", *, needs_model: bool = True) -> None:
        self.name, self.needs_model = name, needs_model
        self.samples: list[Sample] = []

    async def ask(self, sample: Sample, model: object) -> Verdict:
        raise AssertionError("asked")

    def messages(self, sample: Sample) -> tuple[Message, ...]:
        self.samples.append(sample)
        return ({"role": "user", "content": sample.answer.text},)


class UnknownJudge:
    """A judge whose messages are unknown before it is asked."""

    name = "secret"

    async def ask(self, sample: Sample, model: object) -> Verdict:
        raise AssertionError("asked")


def metric_of(judge: Any) -> Metric:
    return Metric(judge.name, lambda sample: Score(1.0), judge=judge)


def words(messages: Sequence[Message]) -> tuple[int, bool]:
    return sum(len(message["content"].split()) for message in messages), True


def priced_model(**more: Any) -> PricedModel:
    settings: dict[str, Any] = {
        "name": "openai/m", "count": words, "cost": lambda prompt, reply: prompt * 0.001 + reply * 0.01,
        "max_tokens": 10, "recorded": lambda messages, repeat, params: False, **more,
    }  # fmt: skip
    return PricedModel(**settings)


def plan_of(workflow: AnyWorkflow, top_k: int = 5) -> CallPlanner:
    """Return the plan of a built-in system without options."""
    plan, parts = workflow.plan, SystemParts(prompts=PROMPTS, top_k=top_k)
    assert plan is not None
    return lambda query: plan(None, query, parts)


PLANS = {"llm": plan_of(LLM), "closed_book": plan_of(CLOSED_BOOK), "none": plan_of(EXTRACTIVE), "unknown": None}


def planned_task(
    number: int = 1,
    system: str = "llm",
    plan: str = "",
    model: PricedModel | str | None = None,
    judge: PricedModel | str | None = None,
    *,
    metrics: tuple[Metric, ...] = (ACCURACY,),
    supplied: tuple[Passage, ...] | None = SUPPLIED,
    **facets: str,
) -> PlannedTask:
    case = Case(f"q{number}", Instance(f"q{number}", f"Where is {number}?", (("Paris",),)), supplied, facets)
    task = Task(f"t.py::t[q{number}]", "t.py::t", system, case, metrics)
    return PlannedTask(task, PLANS[plan or system], model, judge)


def prompt_words(plan: PlannedTask) -> int:
    return words(messages_for(plan.task.case.query, PROMPTS))[0]


def test_the_calls_of_a_built_in_system_are_summed() -> None:
    plans = [planned_task(number, model=priced_model()) for number in (1, 2, 3)]
    total = sum(map(prompt_words, plans))
    (estimate,) = estimates(plans, PROMPTS)
    assert estimate.cost_usd == pytest.approx(total / 1000 + 0.3)
    assert estimate == Estimate(
        "t.py::t", "llm", "answer", "openai/m", 3, 3, 0, total, 30, True, True, True, estimate.cost_usd
    )


def test_a_recording_costs_nothing_and_belongs_to_its_repeat() -> None:
    model = priced_model(recorded=lambda messages, repeat, params: repeat == 2)
    plans = [planned_task(model=model, repeat=str(repeat)) for repeat in (1, 2)]
    (estimate,) = estimates(plans, PROMPTS)
    assert (estimate.calls, estimate.recorded, estimate.prompt_tokens, estimate.completion_tokens) == (
        2,
        1,
        prompt_words(plans[0]),
        10,
    )


def test_the_closed_book_system_and_the_closed_book_arm_ask_only_the_question() -> None:
    plan = planned_task(system="closed_book", model=priced_model(), metrics=(ACCURACY, CLOSED_BOOK_ACCURACY))
    question_only, _ = words(closed_book_messages(plan.task.case.query, PROMPTS))
    answer, arm = estimates([plan], PROMPTS)
    assert (answer.what, answer.prompt_tokens, answer.exact) == ("answer", question_only, True)
    assert arm == replace(answer, what="closed book")


def test_a_prompt_with_passages_to_retrieve_is_inexact_and_has_no_recording() -> None:
    model = priced_model(recorded=lambda messages, repeat, params: True)
    (estimate,) = estimates([planned_task(model=model, supplied=None)], PROMPTS)
    assert (estimate.calls, estimate.recorded, estimate.exact) == (1, 0, False)
    (question_only,) = estimates([planned_task(system="closed_book", model=model, supplied=None)], PROMPTS)
    assert (question_only.recorded, question_only.exact) == (1, True)


def test_an_approximate_tokenizer_makes_the_estimate_inexact() -> None:
    plans = [
        planned_task(1, model=priced_model()),
        planned_task(2, model=priced_model(count=lambda messages: (7, False))),
    ]
    (estimate,) = estimates(plans, PROMPTS)
    assert (estimate.exact, estimate.prompt_tokens) == (False, prompt_words(plans[0]) + 7)


def test_without_max_tokens_the_reply_length_is_assumed() -> None:
    (estimate,) = estimates([planned_task(model=priced_model(max_tokens=None))], PROMPTS)
    assert (estimate.completion_tokens, estimate.bounded) == (ASSUMED_REPLY, False)


def test_one_unknown_price_makes_the_sum_unknown() -> None:
    plans = [
        planned_task(1, model=priced_model()),
        planned_task(2, model=priced_model(cost=lambda prompt, reply: None)),
        planned_task(3, model=priced_model()),
    ]
    assert estimates(plans, PROMPTS)[0].cost_usd is None


@pytest.mark.parametrize(
    ("plan", "model", "calls", "name"),
    [
        ("none", priced_model(), 0, ""),
        ("unknown", priced_model(), None, ""),
        ("llm", None, 0, ""),
        ("llm", "rag_llm", None, "rag_llm"),
    ],
)
def test_the_calls_of_other_systems_are_none_or_unknown(plan: str, model: Any, calls: int | None, name: str) -> None:
    (estimate,) = estimates([planned_task(1, "x", plan, model)], PROMPTS)
    assert (estimate.calls, estimate.model, estimate.prompt_tokens, estimate.cost_usd) == (calls, name, 0, 0.0)


def test_a_judge_is_asked_once_for_each_case_about_an_assumed_answer() -> None:
    judge = KnownJudge()
    metrics = (metric_of(judge), Metric("other", lambda sample: Score(1.0), judge=judge))
    plans = [planned_task(number, "x", "none", None, priced_model(name="j"), metrics=metrics) for number in (1, 2)]
    _, estimate = estimates(plans, PROMPTS)
    assert (estimate.what, estimate.model, estimate.cases, estimate.calls, estimate.exact) == ("tone", "j", 2, 2, False)
    assert [sample.answer for sample in judge.samples] == [Answer("word " * 100)] * 2
    assert estimate.prompt_tokens == 200


def test_calls_of_a_judge_without_messages_or_with_another_model_are_unknown() -> None:
    metrics = (metric_of(UnknownJudge()), metric_of(KnownJudge("free", needs_model=False)))
    _, estimate = estimates([planned_task(1, "x", "none", None, priced_model(name="j"), metrics=metrics)], PROMPTS)
    assert (estimate.what, estimate.model, estimate.calls) == ("secret", "j", None)
    _, estimate = estimates(
        [planned_task(1, "x", "none", None, "rag_judge", metrics=(metric_of(KnownJudge()),))], PROMPTS
    )
    assert (estimate.what, estimate.model, estimate.calls) == ("tone", "rag_judge", None)


def test_every_vote_of_a_panel_is_counted() -> None:
    panel = Panel(("j", "k", "rag_judge"), "majority", repeat=2, swapped=True)
    plan = planned_task(1, "x", "none", metrics=(metric_of(KnownJudge()), metric_of(KnownJudge("other"))))
    panelists: dict[str, PricedModel | str | None] = {"j": priced_model(name="j"), "k": "k", "rag_judge": None}
    _, one, other = estimates([replace(plan, panels={"tone": panel}, panelists=panelists)] * 2, PROMPTS)
    assert (one.what, one.model, one.cases, one.calls, one.counted, one.exact) == ("tone", "j", 2, 6, True, False)
    assert (one.prompt_tokens, one.completion_tokens) == (600, 60)
    assert one.cost_usd == pytest.approx(1.2)
    assert (other.what, other.model, other.cases, other.calls) == ("tone", "k", 2, None)


def test_calls_of_the_session_model_come_before_those_of_judges() -> None:
    utility = erag_metric("erag:P@5", "erag", lambda name: ACCURACY)
    metrics = (metric_of(KnownJudge()), CLOSED_BOOK_ACCURACY, utility, ACCURACY)
    rows = estimates(
        [planned_task(model=priced_model(), judge=priced_model(name="j"), metrics=metrics, supplied=None)], PROMPTS
    )
    assert [each.what for each in rows] == ["answer", "each document", "closed book", "tone"]


def test_without_a_judge_model_no_judge_is_asked() -> None:
    (estimate,) = estimates([planned_task(1, "x", "none", metrics=(metric_of(KnownJudge()),))], PROMPTS)
    assert estimate.what == "answer"


def test_a_case_asks_for_at_most_top_k_documents_if_a_model_answers_from_them() -> None:
    utility = erag_metric("erag:P@5", "erag", lambda name: ACCURACY)
    cases = [planned_task(n, model=priced_model(), metrics=(ACCURACY, utility), supplied=None) for n in (1, 2)]
    plans = [replace(each, plan_calls=plan_of(LLM, top_k=7)) for each in cases]
    answer, estimate = estimates(plans, PROMPTS)
    assert (estimate.what, estimate.model, estimate.cases, estimate.calls) == ("each document", "openai/m", 2, 14)
    assert (estimate.counted, estimate.exact, estimate.recorded) == (False, False, 0)
    assert (estimate.prompt_tokens, estimate.completion_tokens) == (
        7 * answer.prompt_tokens,
        7 * answer.completion_tokens,
    )
    assert estimate.cost_usd == pytest.approx(7 * (answer.cost_usd or 0))
    (supplied,) = estimates([planned_task(model=priced_model(), metrics=(ACCURACY, utility))], PROMPTS)
    assert supplied.what == "answer"  # supplied passages are not a ranking
    _, without_plan = estimates([planned_task(1, "x", "unknown", metrics=(ACCURACY, utility))], PROMPTS)
    assert (without_plan.what, without_plan.calls) == ("each document", None)
    (without_model,) = estimates([planned_task(1, "x", "none", metrics=(ACCURACY, utility))], PROMPTS)
    assert without_model.what == "answer"


def test_systems_are_separate_in_the_order_of_the_tasks() -> None:
    plans = [planned_task(n, name, "none") for n in (1, 2) for name in ("b", "a")]
    assert [(estimate.system, estimate.cases) for estimate in estimates(plans, PROMPTS)] == [("b", 2), ("a", 2)]


QUESTION: tuple[Message, ...] = ({"role": "user", "content": "one two three"},)


def test_the_first_call_of_an_agent_is_exact_and_later_steps_are_an_upper_bound() -> None:
    agent = replace(
        planned_task(model=priced_model(), metrics=()), plan_calls=lambda query: PlannedRun(QUESTION, 4, exact=False)
    )
    first, later = estimates([agent, agent], PROMPTS)
    assert (first.what, first.calls, first.counted, first.exact, first.prompt_tokens) == ("answer", 2, True, True, 6)
    assert (later.what, later.calls, later.counted, later.exact) == ("later steps", 6, False, False)
    assert later.prompt_tokens == 6 * 3 + 2 * (1 + 2 + 3) * (10 + ASSUMED_OBSERVATION), "each step adds to the prompt"
    assert later.completion_tokens == 60
    deep = replace(agent, plan_calls=lambda query: PlannedRun(QUESTION, 4, exact=False, turns=2))
    _, later_in_tree = estimates([deep], PROMPTS)
    assert later_in_tree.prompt_tokens == 3 * 3 + 3 * ((1 + 2 + 2) * (10 + ASSUMED_OBSERVATION) // 3)
    assert later.cost_usd == pytest.approx(later.prompt_tokens * 0.001 + 0.6)


def test_the_number_of_calls_of_a_chain_is_exact_and_a_single_call_has_no_later_steps() -> None:
    run = PlannedRun(QUESTION, 3, True, final=False)
    chain = replace(planned_task(model=priced_model(), metrics=()), plan_calls=lambda query: run)
    first, later = estimates([chain], PROMPTS)
    assert (first.calls, first.counted, first.exact) == (1, True, False)
    assert (later.calls, later.counted, later.exact, later.prompt_tokens) == (2, True, False, 6)
    single = replace(
        planned_task(model=priced_model(), metrics=()), plan_calls=lambda query: PlannedRun(QUESTION, 1, exact=True)
    )
    assert [each.what for each in estimates([single], PROMPTS)] == ["answer"]
    unpriced = replace(chain, model="rag_llm")
    assert [(each.what, each.calls) for each in estimates([unpriced], PROMPTS)] == [
        ("answer", None), ("later steps", None),
    ]  # fmt: skip


def test_the_tools_of_a_call_count_as_tokens_and_belong_to_its_recording() -> None:
    def recorded(messages: Sequence[Message], repeat: int, params: Mapping[str, object]) -> bool:
        return "tools" in params

    run = PlannedRun(QUESTION, 1, exact=True, params={"tools": [{"name": "Search"}]})
    agent = replace(planned_task(model=priced_model(), metrics=()), plan_calls=lambda query: run)
    (estimate,) = estimates([agent], PROMPTS)
    assert (estimate.prompt_tokens, estimate.exact) == (3 + len(['[{"name":', '"Search"}]']), False)
    (with_recording,) = estimates([replace(agent, model=priced_model(recorded=recorded))], PROMPTS)
    assert (with_recording.calls, with_recording.recorded) == (1, 1)


def test_the_number_of_documents_that_an_agent_finds_is_unknown() -> None:
    utility = erag_metric("erag:P@5", "erag", lambda name: ACCURACY)
    run = PlannedRun(QUESTION, 4, exact=False)
    agent = replace(planned_task(model=priced_model(), metrics=(ACCURACY, utility)), plan_calls=lambda query: run)
    documents = next(each for each in estimates([agent], PROMPTS) if each.what == "each document")
    assert (documents.model, documents.calls) == ("openai/m", None)
