"""The trace of an answer completes its end, its ranking and its usage."""

from __future__ import annotations

import pytest

from pytest_rageval import tracing
from pytest_rageval.model.answer import Answer, Step, Usage
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.trace.collector import Collector, Event, collecting
from pytest_rageval.trace.completing import complete_answer, outage_of, usage_of_trace

TOOL = Step("tool", {"name": "search", "passages": [{"id": "a", "text": "A.", "score": 2}, {"id": "b", "page": "B"}]})
END = Step("end", {"reason": "finished"})


def collector_of(*events: Event) -> Collector:
    collector = Collector()
    for event in events:
        collector.add(event)
    return collector


def test_an_answer_without_steps_gets_no_trace() -> None:
    assert complete_answer(Answer("x"), Collector()) == Answer("x")
    assert complete_answer(Answer("x")) == Answer("x")


@pytest.mark.parametrize(("text", "reason"), [("x", "finished"), (" \n", "empty_answer"), ("", "empty_answer")])
def test_the_end_is_added_if_it_is_missing(text: str, reason: str) -> None:
    assert complete_answer(Answer(text, trace=(TOOL,))).trace == (TOOL, Step("end", {"reason": reason}))


def test_the_last_end_counts_and_comes_last() -> None:
    inner = Step("retrieve", {"query": "x", "parent": 1})
    gave_up, limit = Step("end", {"reason": "gave_up"}), Step("end", {"reason": "step_limit", "parent": 0})
    answer = complete_answer(Answer("", trace=(gave_up, TOOL, inner, limit, Step("thought", {"parent": 3}))))
    assert answer.trace == (
        TOOL, Step("retrieve", {"query": "x", "parent": 0}), Step("thought"), Step("end", {"reason": "step_limit"}),
    )  # fmt: skip


def test_returned_steps_win_over_collected_ones() -> None:
    answer = complete_answer(Answer("x", trace=(TOOL,)), collector_of(Event("tool", {"name": "other"})))
    assert answer.trace == (TOOL, END)


def test_collected_steps_are_inserted_between_our_timed_stages() -> None:
    ours = (Step("retrieve", {"seconds": 0.5, "retriever": "bm25"}), Step("generate", {"seconds": 2.0}))
    tool = Event("tool", {"name": "search"}, 1.0)
    answer = complete_answer(Answer("x", trace=ours), collector_of(tool, Event("thought", {}, 2.0, parent=tool)))
    between = (Step("tool", {"name": "search"}), Step("thought", {"parent": 1}))
    assert answer.trace == (ours[0], *between, ours[1], END)
    answer = complete_answer(
        Answer("x", trace=ours), collector_of(Event("retrieve", {"query": "q", "seconds": 0.4}, 1.0))
    )
    search = Step("retrieve", {"seconds": 0.4, "retriever": "bm25", "query": "q"})
    assert answer.trace == (search, ours[1], END)


def test_the_ranking_is_the_passages_in_order_of_first_appearance() -> None:
    again = Step("retrieve", {"passages": [{"id": "b"}, {"id": 7, "title": "T"}, {"text": "no id"}, "text"]})
    failed = Step("tool", {"name": "search", "error": "ValueError", "passages": [{"id": "z"}]})
    answer = complete_answer(Answer("x", trace=(failed, TOOL, again)))
    b = ScoredPassage("b", page="B")
    assert answer.ranking == Ranking((ScoredPassage("a", None, "A."), b, ScoredPassage("7", title="T")))
    returned = Ranking((ScoredPassage("returned"),))
    assert complete_answer(Answer("x", returned, trace=(TOOL,))).ranking == returned
    assert complete_answer(Answer("x", trace=(Step("tool", {"name": "add"}),))).ranking is None
    assert complete_answer(Answer("x", trace=(Step("retrieve", {"passages": []}),))).ranking == Ranking(())


def test_scores_stay_if_they_never_rise() -> None:
    falling = Step("retrieve", {"passages": [{"id": "a", "score": 2}, {"id": "b", "score": 2.0}]})
    ranking = complete_answer(Answer("x", trace=(falling,))).ranking
    assert ranking is not None
    assert [item.score for item in ranking] == [2.0, 2.0]
    second = Step("retrieve", {"passages": [{"id": "c", "score": 3.0}]})
    ranking = complete_answer(Answer("x", trace=(falling, second))).ranking
    assert ranking is not None
    assert [item.score for item in ranking] == [None, None, None]


def test_usage_is_the_sum_of_the_model_calls_and_unknown_if_one_is_unknown() -> None:
    complete = Step("completion", {"prompt_tokens": 10, "completion_tokens": 2, "cost_usd": 0.25})
    without_cost = Step("completion", {"prompt_tokens": 5, "completion_tokens": 1})
    assert usage_of_trace((complete, complete, TOOL)) == Usage(20, 4, 0.5)
    assert usage_of_trace((complete, without_cost)) == Usage(15, 3, None)
    assert usage_of_trace((complete, Step("completion", {"prompt_tokens": -1}))) == Usage()
    assert usage_of_trace((TOOL,)) == Usage()


def test_outages_are_distinguished_from_other_ends() -> None:
    assert outage_of((TOOL, Step("end", {"reason": "tool_unavailable", "detail": "down"}))) == (
        "tool_unavailable",
        "down",
    )
    assert outage_of((Step("end", {"reason": "gave_up"}),)) is None
    assert outage_of((Step("tool", {"name": "x", "error": "ConnectionError"}),)) is None


def test_a_call_recorded_by_two_sources_is_one_step() -> None:
    span = Event("tool", {"name": "search", "arguments": '{"q": "x"}', "tool_call_id": "c1"}, 1.0, 2.0, source="otel")
    ours = Event("tool", {"name": "search", "arguments": {"q": "x"}, "result": "r"}, 1.1, 1.9, source="tracing")
    inner = Event("retrieve", {"query": "x"}, 1.2, 1.3, ours, "tracing")
    later = Event("tool", {"name": "search", "arguments": {"q": "x"}}, 2.5, 2.6, source="tracing")
    call = Event("completion", {"prompt_tokens": 3, "completion_tokens": 1}, 3.0, 4.0, source="otel")
    http = Event("completion", {"prompt_tokens": 3, "completion_tokens": 1, "cost_usd": 0.1}, 3.1, 3.9, source="http")
    assert complete_answer(Answer("x"), collector_of(span, ours, inner, later, call, http)).trace == (
        Step("tool", {"name": "search", "arguments": '{"q": "x"}', "result": "r", "tool_call_id": "c1"}),
        Step("retrieve", {"query": "x", "parent": 0}),
        Step("tool", {"name": "search", "arguments": {"q": "x"}}),
        Step("completion", {"prompt_tokens": 3, "completion_tokens": 1, "cost_usd": 0.1}),
        END,
    )


def test_a_model_call_inside_another_with_unknown_tokens_is_one_step() -> None:
    usage = {"model": "m-2025", "prompt_tokens": 3, "completion_tokens": 1}
    spans = [Event("completion", {"model": "m"}, start, 2.0, source="otel") for start in (1.0, 1.1)]
    http = [Event("completion", usage, start, 2.01) for start in (1.2, 1.3)]
    assert complete_answer(Answer("x"), collector_of(*spans, *http)).trace == (
        *(Step("completion", {**usage, "model": "m"}) for _ in spans),
        END,
    )


@pytest.mark.parametrize(
    ("model", "start", "end"), [("other", 1.1, 1.9), ("m", 2.01, 2.02), ("m", 1.9, 2.5), ("m", 0.9, 1.9)]
)
def test_a_different_model_call_near_one_with_unknown_tokens_stays_a_step(model: str, start: float, end: float) -> None:
    span = Event("completion", {"model": "m"}, 1.0, 2.0, source="otel")
    http = Event("completion", {"model": model, "prompt_tokens": 3, "completion_tokens": 1}, start, end)
    assert len(complete_answer(Answer("x"), collector_of(span, http)).trace) == 3


def test_equal_concurrent_calls_from_one_source_stay_two_steps() -> None:
    first, second = (Event("tool", {"name": "search"}, 1.0, 2.0, source="tracing") for _ in range(2))
    assert len(complete_answer(Answer("x"), collector_of(first, second)).trace) == 3


class ComparedText(str):
    """A text that counts comparisons."""

    __slots__ = ()
    __hash__ = str.__hash__
    comparisons = 0

    def __eq__(self, other: object) -> bool:
        ComparedText.comparisons += 1
        return str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other


def test_merging_steps_takes_linear_time() -> None:
    def calls(at: int, source: str) -> list[Event]:
        details = {"tool": {"name": "search"}, "completion": {"model": "m"}}
        return [Event(kind, detail, at, at + 0.5, source=ComparedText(source)) for kind, detail in details.items()]

    count = 1000
    events = [event for at in range(count) for event in calls(at, "environment")]
    trace = complete_answer(Answer("x"), collector_of(*events, *calls(count // 2, "tracing"))).trace
    assert len(trace) == 2 * count + 1
    assert ComparedText.comparisons < 50 * count


def test_a_value_that_is_not_json_becomes_its_repr() -> None:
    with collecting() as collector, tracing.step("mine", handle=object, n=float("inf")):
        pass
    (step, _) = complete_answer(Answer("x"), collector).trace
    assert (step.detail["handle"], step.detail["n"]) == ("<class 'object'>", "inf")
