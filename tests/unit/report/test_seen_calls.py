"""Warnings of sessions that saw no call of a user's system."""

from __future__ import annotations

import pytest

from pytest_rageval.model.answer import Answer, Usage
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.run.seen_calls import CallLimits, SeenCalls, unseen_systems_warning

DIRECT = {"rag_system": "the fixture rag_system"}
HTTP = SeenCalls("rag_record_http", answers={"rag_system": 2})
ELSEWHERE = SeenCalls(
    "rag_record_http", elsewhere={"db:6333": 2, "a:1": 16, "b:2": 4, "c": 1}, answers={"rag_system": 2}
)
BUDGET = CallLimits(budget=True)


def outcomes(usage: Usage | None = None) -> list[Outcome]:
    return [Outcome("a", "q1", "t", {}, "rag_system", "scored", answer=Answer("Paris", usage=usage))]


def at_end(seen_calls: SeenCalls, limits: CallLimits, usage: Usage | None = None) -> tuple[str, bool]:
    return unseen_systems_warning(DIRECT, seen_calls, outcomes(usage), limits)


@pytest.mark.parametrize("limits", [CallLimits("none"), BUDGET])
@pytest.mark.parametrize(
    "seen_calls",
    [
        SeenCalls("rag_record_http", requests=1, elsewhere={"db:6333": 9}, answers={"rag_system": 2}),
        SeenCalls("rag_record_http", elsewhere={"db:6333": 9}, answers={"rag_system": 2}, seen=("rag_system",)),
        SeenCalls("rag_record_http", elsewhere={"db:6333": 9}, answers={"rag_system": 0}),
        SeenCalls("rag_record_http", elsewhere={"db:6333": 9}, answers={"llm": 2}),
        SeenCalls(),
    ],
    ids=["another host beside", "recorded function or client", "no answer", "named system", "nothing ran"],
)
def test_sessions_that_saw_a_call_or_asked_no_own_system_do_not_warn(seen_calls: SeenCalls, limits: CallLimits) -> None:
    assert at_end(seen_calls, limits) == ("", False)


def test_without_record_mode_and_budget_nothing_is_said() -> None:
    assert at_end(ELSEWHERE, CallLimits()) == ("", False)


def test_at_most_three_hosts_are_named_the_most_asked_first() -> None:
    note, fails = at_end(ELSEWHERE, CallLimits("all"))
    assert ": 16 went to a:1, 4 to b:2, 2 to db:6333, ... 1 more, which it does not name" in note
    assert "; name the hosts of its models there; until" in note
    assert fails


def test_a_budget_is_satisfied_by_answers_that_report_their_cost_but_a_recording_is_not() -> None:
    priced = Usage(10, 2, 0.1)
    assert at_end(ELSEWHERE, BUDGET, priced) == ("", False)
    assert at_end(ELSEWHERE, BUDGET)[1]
    assert at_end(ELSEWHERE, CallLimits("none", budget=True), priced)[1]


def test_only_a_budget_fails_a_session_in_which_nothing_was_seen_at_all() -> None:
    assert not at_end(HTTP, CallLimits("none"))[1]
    assert at_end(HTTP, BUDGET)[1]
    assert not at_end(HTTP, CallLimits(budget=True, partial=True))[1]
    proxied = SeenCalls("rag_proxy", answers={"rag_system": 2})
    note, fails = at_end(proxied, BUDGET)
    assert note.endswith(
        "let its client read OPENAI_BASE_URL, or give --rag-budget-partial; until then the exit status is 1"
    )
    assert fails


def test_seen_calls_of_processes_add_up() -> None:
    one = SeenCalls("rag_record_http", 1, {"a:1": 2}, {"rag_system": 3}, ("x",))
    other = SeenCalls("rag_record_http", 2, {"a:1": 1, "b:2": 1}, {"rag_system": 1}, ("x", "y"))
    assert one + other == SeenCalls("rag_record_http", 3, {"a:1": 3, "b:2": 1}, {"rag_system": 4}, ("x", "y"))
    assert SeenCalls() + one == one
