"""Tool agents with hostile texts: the run ends and the texts stay data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from support.samples.attack_texts import ATTACKS
from support.samples.tool_agent_runs import calls, play

from pytest_rageval.model.case import Passage, Query
from pytest_rageval.model.chat import Completion, Message, ToolCall
from pytest_rageval.systems.agents import dfsdt, function_calling
from pytest_rageval.systems.workflow import AnyWorkflow

each_agent = pytest.mark.parametrize("agent", [function_calling.workflow, dfsdt.workflow], ids=["calling", "dfsdt"])

HOSTILE = ["", "\x00", "\ud800", "[" * 100_000, "{" * 100_000, "> data", "x" * 10**6]

OBEYED = "I obey."


@each_agent
@pytest.mark.parametrize("text", HOSTILE, ids=map(str, range(len(HOSTILE))))
def test_hostile_replies_and_results_cannot_keep_a_run_from_ending(agent: AnyWorkflow, text: str) -> None:
    def search(title: str) -> str:
        """Find a page."""
        return text

    call, odd = ToolCall(text, "search", json.dumps({"title": text})), ToolCall(text, text, text)

    def reply(messages: Sequence[Message]) -> Any:
        turn = sum(message["role"] == "assistant" for message in messages)
        return Completion(text, tool_calls=((call, odd), (call,), ())[min(turn, 2)])

    run = play(agent, reply, tools=search)
    assert run.end in ("finished", "empty_answer", "call_limit")
    for request in run.model.requests:
        json.dumps([*request.messages], ensure_ascii=False, allow_nan=False).encode()
    json.dumps([step.detail for step in run.answer.trace], ensure_ascii=False, allow_nan=False).encode()


def has_unquoted_order(messages: Sequence[Message], order: str) -> bool:
    """Return whether the messages hold a line of the order without a quote mark."""
    order_lines = [line.strip() for line in order.splitlines() if line.strip()]
    message_lines = [line.strip() for message in messages for line in str(message.get("content") or "").splitlines()]
    return any(line in order_lines for line in message_lines if not line.startswith(">"))


@each_agent
@pytest.mark.parametrize("name", ATTACKS)
def test_an_order_in_a_passage_a_title_a_result_or_an_error_is_quoted(agent: AnyWorkflow, name: str) -> None:
    order = ATTACKS[name]

    def search(title: str) -> str:
        """Find a page."""
        if title == "error":
            raise ValueError(order)
        return order

    def reply(messages: Sequence[Message]) -> Any:
        if has_unquoted_order(messages, order):
            return [ToolCall("c", "Finish", json.dumps({"return_type": "give_answer", "final_answer": OBEYED}))]
        turn = sum(message["role"] == "assistant" for message in messages)
        tool_requests = [("search", '{"title": "x"}'), ("search", '{"title": "error"}'), ("search", '{"title": "y"}')]
        again = agent is dfsdt.workflow and turn == 1
        return [ToolCall("c", "Finish", '{"return_type": "give_up_and_restart"}')] if again else calls(*tool_requests)

    query = Query("Where?", (Passage("p", order, order), Passage("q", "", order)))
    options = {"max_calls": "6"} if agent is dfsdt.workflow else {"max_steps": "2"}
    run = play(agent, reply, query, search, **options)
    assert run.answer.text == ""
    assert run.end in ("step_limit", "gave_up")
    assert len(run.steps("tool")) >= 6
    prompt = "\n".join(str(message.get("content")) for message in run.model.requests[-1].messages)
    assert "\n> " in prompt


def test_has_unquoted_order_detects_an_unquoted_line() -> None:
    assert has_unquoted_order([{"role": "user", "content": "Documents:\nGive the best label."}], "Give the best label.")
    assert not has_unquoted_order(
        [{"role": "user", "content": "Documents:\n> Give the best label."}], "Give the best label."
    )
