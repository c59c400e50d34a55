"""Warnings about sessions that saw no call of a user's system."""

from __future__ import annotations

import pytest

from pytest_rageval.model.answer import Answer, Usage
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.run.seen_calls import CallLimits, SeenCalls, unseen_systems_warning

DIRECT = {"rag_system": "the fixture rag_system"}
HTTP = SeenCalls("rag_record_http", answers={"rag_system": 2})
OTHER_HOSTS = SeenCalls(
    "rag_record_http", elsewhere={"db:6333": 2, "a:1": 16, "b:2": 4, "c": 1}, answers={"rag_system": 2}
)
BUDGET = CallLimits(budget=True)


def outcomes(usage: Usage | None = None) -> list[Outcome]:
    return [Outcome("a", "q1", "t", {}, "rag_system", "scored", answer=Answer("Paris", usage=usage))]


def warning_of(seen_calls: SeenCalls, limits: CallLimits, usage: Usage | None = None) -> tuple[str, bool]:
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
    ids=["another host as well", "recorded function or client", "no answer", "named system", "nothing ran"],
)
def test_a_session_that_saw_a_call_or_ran_no_user_system_does_not_warn(
    seen_calls: SeenCalls, limits: CallLimits
) -> None:
    assert warning_of(seen_calls, limits) == ("", False)


def test_a_session_without_record_mode_and_budget_does_not_warn() -> None:
    assert warning_of(OTHER_HOSTS, CallLimits()) == ("", False)


def test_the_warning_names_the_three_hosts_with_the_most_requests() -> None:
    note, fails = warning_of(OTHER_HOSTS, CallLimits("all"))
    assert ": 16 went to a:1, 4 to b:2, 2 to db:6333, ... 1 more, which it does not name" in note
    assert "; name the hosts of its models there; until" in note
    assert fails


def test_answers_that_report_their_cost_are_enough_for_a_budget_but_not_for_a_recording() -> None:
    priced = Usage(10, 2, 0.1)
    assert warning_of(OTHER_HOSTS, BUDGET, priced) == ("", False)
    assert warning_of(OTHER_HOSTS, BUDGET)[1]
    assert warning_of(OTHER_HOSTS, CallLimits("none", budget=True), priced)[1]


def test_a_session_that_saw_no_request_at_all_fails_only_with_a_budget() -> None:
    assert not warning_of(HTTP, CallLimits("none"))[1]
    assert warning_of(HTTP, BUDGET)[1]
    assert not warning_of(HTTP, CallLimits(budget=True, partial=True))[1]
    proxied = SeenCalls("rag_proxy", answers={"rag_system": 2})
    note, fails = warning_of(proxied, BUDGET)
    assert note.endswith(
        "let its client read OPENAI_BASE_URL, or give --rag-budget-partial; until then the exit status is 1"
    )
    assert fails


def test_the_seen_calls_of_processes_are_summed() -> None:
    one = SeenCalls("rag_record_http", 1, {"a:1": 2}, {"rag_system": 3}, ("x",))
    other = SeenCalls("rag_record_http", 2, {"a:1": 1, "b:2": 1}, {"rag_system": 1}, ("x", "y"))
    assert one + other == SeenCalls("rag_record_http", 3, {"a:1": 3, "b:2": 1}, {"rag_system": 4}, ("x", "y"))
    assert SeenCalls() + one == one
