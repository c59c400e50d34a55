"""What a session would ask, counted from its tasks."""

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


class Judged:
    """A judge that says what it would ask."""

    def __init__(self, name: str = "tone", *, needs_model: bool = True) -> None:
        self.name, self.needs_model = name, needs_model
        self.shown: list[Sample] = []

    async def ask(self, sample: Sample, model: object) -> Verdict:
        raise AssertionError("asked")

    def messages(self, sample: Sample) -> tuple[Message, ...]:
        self.shown.append(sample)
        return ({"role": "user", "content": sample.answer.text},)


class Asks:
    """A judge of which nobody knows what it asks."""

    name = "secret"

    async def ask(self, sample: Sample, model: object) -> Verdict:
        raise AssertionError("asked")


def metric_of(judge: Any) -> Metric:
    return Metric(judge.name, lambda sample: Score(1.0), judge=judge)


def words(messages: Sequence[Message]) -> tuple[int, bool]:
    return sum(len(message["content"].split()) for message in messages), True


def priced(**more: Any) -> PricedModel:
    settings: dict[str, Any] = {
        "name": "openai/m", "count": words, "cost": lambda sent, got: sent * 0.001 + got * 0.01, "max_tokens": 10,
        "recorded": lambda messages, repeat, params: False, **more,
    }  # fmt: skip
    return PricedModel(**settings)


def plan_of(workflow: AnyWorkflow, top_k: int = 5) -> CallPlanner:
    """Return the plan of a built-in system without options."""
    plan, parts = workflow.plan, SystemParts(prompts=PROMPTS, top_k=top_k)
    assert plan is not None
    return lambda query: plan(None, query, parts)


PLANS = {"llm": plan_of(LLM), "closed_book": plan_of(CLOSED_BOOK), "none": plan_of(EXTRACTIVE), "own": None}


def planned(
    number: int = 1,
    system: str = "llm",
    asks: str = "",
    model: PricedModel | str | None = None,
    judge: PricedModel | str | None = None,
    *,
    metrics: tuple[Metric, ...] = (ACCURACY,),
    supplied: tuple[Passage, ...] | None = SUPPLIED,
    **facets: str,
) -> PlannedTask:
    case = Case(f"q{number}", Instance(f"q{number}", f"Where is {number}?", (("Paris",),)), supplied, facets)
    task = Task(f"t.py::t[q{number}]", "t.py::t", system, case, metrics)
    return PlannedTask(task, PLANS[asks or system], model, judge)


def sent(plan: PlannedTask) -> int:
    return words(messages_for(plan.task.case.query, PROMPTS))[0]


def test_the_calls_of_a_built_in_system_are_summed() -> None:
    plans = [planned(number, model=priced()) for number in (1, 2, 3)]
    total = sum(map(sent, plans))
    (found,) = estimates(plans, PROMPTS)
    assert found.cost_usd == pytest.approx(total / 1000 + 0.3)
    assert found == Estimate(
        "t.py::t", "llm", "answer", "openai/m", 3, 3, 0, total, 30, True, True, True, found.cost_usd
    )


def test_a_recording_costs_nothing_and_belongs_to_its_repeat() -> None:
    model = priced(recorded=lambda messages, repeat, params: repeat == 2)
    plans = [planned(model=model, repeat=str(repeat)) for repeat in (1, 2)]
    (found,) = estimates(plans, PROMPTS)
    assert (found.calls, found.recorded, found.prompt_tokens, found.completion_tokens) == (2, 1, sent(plans[0]), 10)


def test_the_closed_book_system_and_the_closed_book_arm_ask_the_question_alone() -> None:
    plan = planned(system="closed_book", model=priced(), metrics=(ACCURACY, CLOSED_BOOK_ACCURACY))
    alone, _ = words(closed_book_messages(plan.task.case.query, PROMPTS))
    answer, arm = estimates([plan], PROMPTS)
    assert (answer.what, answer.prompt_tokens, answer.exact) == ("answer", alone, True)
    assert arm == replace(answer, what="closed book")


def test_passages_that_are_yet_to_be_found_make_an_estimate_that_no_recording_answers() -> None:
    model = priced(recorded=lambda messages, repeat, params: True)
    (found,) = estimates([planned(model=model, supplied=None)], PROMPTS)
    assert (found.calls, found.recorded, found.exact) == (1, 0, False)
    (alone,) = estimates([planned(system="closed_book", model=model, supplied=None)], PROMPTS)
    assert (alone.recorded, alone.exact) == (1, True)


def test_a_tokenizer_that_estimates_makes_an_estimate() -> None:
    plans = [planned(1, model=priced()), planned(2, model=priced(count=lambda messages: (7, False)))]
    (found,) = estimates(plans, PROMPTS)
    assert (found.exact, found.prompt_tokens) == (False, sent(plans[0]) + 7)


def test_without_max_tokens_an_assumed_length_is_marked() -> None:
    (found,) = estimates([planned(model=priced(max_tokens=None))], PROMPTS)
    assert (found.completion_tokens, found.bounded) == (ASSUMED_REPLY, False)


def test_one_unknown_price_makes_the_sum_unknown() -> None:
    plans = [
        planned(1, model=priced()),
        planned(2, model=priced(cost=lambda sent, got: None)),
        planned(3, model=priced()),
    ]
    assert estimates(plans, PROMPTS)[0].cost_usd is None


@pytest.mark.parametrize(
    ("asks", "model", "calls", "name"),
    [
        ("none", priced(), 0, ""),
        ("own", priced(), None, ""),
        ("llm", None, 0, ""),
        ("llm", "rag_llm", None, "rag_llm"),
    ],
)
def test_other_systems_ask_nothing_or_nobody_knows_what(asks: str, model: Any, calls: int | None, name: str) -> None:
    (found,) = estimates([planned(1, "x", asks, model)], PROMPTS)
    assert (found.calls, found.model, found.prompt_tokens, found.cost_usd) == (calls, name, 0, 0.0)


def test_a_judge_is_asked_once_a_case_about_an_answer_that_is_assumed() -> None:
    judge = Judged()
    twice = (metric_of(judge), Metric("other", lambda sample: Score(1.0), judge=judge))
    plans = [planned(number, "x", "none", None, priced(name="j"), metrics=twice) for number in (1, 2)]
    _, found = estimates(plans, PROMPTS)
    assert (found.what, found.model, found.cases, found.calls, found.exact) == ("tone", "j", 2, 2, False)
    assert [sample.answer for sample in judge.shown] == [Answer("word " * 100)] * 2
    assert found.prompt_tokens == 200


def test_calls_of_a_judge_without_messages_or_with_another_model_are_unknown() -> None:
    metrics = (metric_of(Asks()), metric_of(Judged("free", needs_model=False)))
    _, found = estimates([planned(1, "x", "none", None, priced(name="j"), metrics=metrics)], PROMPTS)
    assert (found.what, found.model, found.calls) == ("secret", "j", None)
    _, found = estimates([planned(1, "x", "none", None, "rag_judge", metrics=(metric_of(Judged()),))], PROMPTS)
    assert (found.what, found.model, found.calls) == ("tone", "rag_judge", None)


def test_every_vote_of_a_panel_is_counted() -> None:
    panel = Panel(("j", "k", "rag_judge"), "majority", repeat=2, swapped=True)
    plan = planned(1, "x", "none", metrics=(metric_of(Judged()), metric_of(Judged("other"))))
    panelists: dict[str, PricedModel | str | None] = {"j": priced(name="j"), "k": "k", "rag_judge": None}
    _, one, other = estimates([replace(plan, panels={"tone": panel}, panelists=panelists)] * 2, PROMPTS)
    assert (one.what, one.model, one.cases, one.calls, one.counted, one.exact) == ("tone", "j", 2, 6, True, False)
    assert (one.prompt_tokens, one.completion_tokens) == (600, 60)
    assert one.cost_usd == pytest.approx(1.2)
    assert (other.what, other.model, other.cases, other.calls) == ("tone", "k", 2, None)


def test_calls_of_the_sessions_model_stand_before_those_of_judges() -> None:
    worth = erag_metric("erag:P@5", "erag", lambda name: ACCURACY)
    metrics = (metric_of(Judged()), CLOSED_BOOK_ACCURACY, worth, ACCURACY)
    found = estimates([planned(model=priced(), judge=priced(name="j"), metrics=metrics, supplied=None)], PROMPTS)
    assert [each.what for each in found] == ["answer", "each document", "closed book", "tone"]


def test_without_a_judge_model_no_judge_is_asked() -> None:
    (found,) = estimates([planned(1, "x", "none", metrics=(metric_of(Judged()),))], PROMPTS)
    assert found.what == "answer"


def test_each_document_is_asked_for_at_most_top_k_times_where_a_model_retrieves() -> None:
    worth = erag_metric("erag:P@5", "erag", lambda name: ACCURACY)
    cases = [planned(n, model=priced(), metrics=(ACCURACY, worth), supplied=None) for n in (1, 2)]
    plans = [replace(each, plan_calls=plan_of(LLM, top_k=7)) for each in cases]
    answer, found = estimates(plans, PROMPTS)
    assert (found.what, found.model, found.cases, found.calls) == ("each document", "openai/m", 2, 14)
    assert (found.counted, found.exact, found.recorded) == (False, False, 0)
    assert (found.prompt_tokens, found.completion_tokens) == (7 * answer.prompt_tokens, 7 * answer.completion_tokens)
    assert found.cost_usd == pytest.approx(7 * (answer.cost_usd or 0))
    (given,) = estimates([planned(model=priced(), metrics=(ACCURACY, worth))], PROMPTS)
    assert given.what == "answer"  # what is supplied is no ranking
    _, own = estimates([planned(1, "x", "own", metrics=(ACCURACY, worth))], PROMPTS)
    assert (own.what, own.calls) == ("each document", None)
    (recorded,) = estimates([planned(1, "x", "none", metrics=(ACCURACY, worth))], PROMPTS)
    assert recorded.what == "answer"


def test_systems_are_separate_in_the_order_of_the_tasks() -> None:
    plans = [planned(n, name, "none") for n in (1, 2) for name in ("b", "a")]
    assert [(found.system, found.cases) for found in estimates(plans, PROMPTS)] == [("b", 2), ("a", 2)]


QUESTION: tuple[Message, ...] = ({"role": "user", "content": "one two three"},)


def test_the_first_call_of_an_agent_is_counted_exactly_and_the_others_at_most() -> None:
    agent = replace(planned(model=priced(), metrics=()), plan_calls=lambda query: PlannedRun(QUESTION, 4, exact=False))
    first, later = estimates([agent, agent], PROMPTS)
    assert (first.what, first.calls, first.counted, first.exact, first.prompt_tokens) == ("answer", 2, True, True, 6)
    assert (later.what, later.calls, later.counted, later.exact) == ("later steps", 6, False, False)
    assert later.prompt_tokens == 6 * 3 + 2 * (1 + 2 + 3) * (10 + ASSUMED_OBSERVATION), "each step adds to the prompt"
    assert later.completion_tokens == 60
    deep = replace(agent, plan_calls=lambda query: PlannedRun(QUESTION, 4, exact=False, turns=2))
    _, later_of_a_tree = estimates([deep], PROMPTS)
    assert later_of_a_tree.prompt_tokens == 3 * 3 + 3 * ((1 + 2 + 2) * (10 + ASSUMED_OBSERVATION) // 3)
    assert later.cost_usd == pytest.approx(later.prompt_tokens * 0.001 + 0.6)


def test_the_calls_of_a_chain_are_counted_exactly_and_a_single_call_has_no_later_ones() -> None:
    run = PlannedRun(QUESTION, 3, True, final=False)
    chain = replace(planned(model=priced(), metrics=()), plan_calls=lambda query: run)
    first, later = estimates([chain], PROMPTS)
    assert (first.calls, first.counted, first.exact) == (1, True, False)
    assert (later.calls, later.counted, later.exact, later.prompt_tokens) == (2, True, False, 6)
    single = replace(planned(model=priced(), metrics=()), plan_calls=lambda query: PlannedRun(QUESTION, 1, exact=True))
    assert [each.what for each in estimates([single], PROMPTS)] == ["answer"]
    unpriced = replace(chain, model="rag_llm")
    assert [(each.what, each.calls) for each in estimates([unpriced], PROMPTS)] == [
        ("answer", None), ("later steps", None),
    ]  # fmt: skip


def test_the_tools_of_a_call_are_counted_and_belong_to_its_recording() -> None:
    def recorded(messages: Sequence[Message], repeat: int, params: Mapping[str, object]) -> bool:
        return "tools" in params

    run = PlannedRun(QUESTION, 1, exact=True, params={"tools": [{"name": "Search"}]})
    agent = replace(planned(model=priced(), metrics=()), plan_calls=lambda query: run)
    (found,) = estimates([agent], PROMPTS)
    assert (found.prompt_tokens, found.exact) == (3 + len(['[{"name":', '"Search"}]']), False)
    (known,) = estimates([replace(agent, model=priced(recorded=recorded))], PROMPTS)
    assert (known.calls, known.recorded) == (1, 1)


def test_the_number_of_documents_that_an_agent_finds_is_unknown() -> None:
    worth = erag_metric("erag:P@5", "erag", lambda name: ACCURACY)
    run = PlannedRun(QUESTION, 4, exact=False)
    agent = replace(planned(model=priced(), metrics=(ACCURACY, worth)), plan_calls=lambda query: run)
    documents = next(each for each in estimates([agent], PROMPTS) if each.what == "each document")
    assert (documents.model, documents.calls) == ("openai/m", None)
