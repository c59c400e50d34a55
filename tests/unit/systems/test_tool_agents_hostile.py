"""Agents that call tools, with hostile texts from models, tools and passages: the run ends, and data stays data."""

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
def test_whatever_the_model_and_its_tools_say_the_run_ends(agent: AnyWorkflow, text: str) -> None:
    def search(title: str) -> str:
        """Find a page."""
        return text

    call, odd = ToolCall(text, "search", json.dumps({"title": text})), ToolCall(text, text, text)

    def said(messages: Sequence[Message]) -> Any:
        turn = sum(message["role"] == "assistant" for message in messages)
        return Completion(text, tool_calls=((call, odd), (call,), ())[min(turn, 2)])

    run = play(agent, said, tools=search)
    assert run.end in ("finished", "empty_answer", "call_limit")
    for request in run.model.requests:
        json.dumps([*request.messages], ensure_ascii=False, allow_nan=False).encode()
    json.dumps([step.detail for step in run.answer.trace], ensure_ascii=False, allow_nan=False).encode()


def obeys(messages: Sequence[Message], order: str) -> bool:
    """Return whether a model that does what unquoted lines ask it to would obey an order."""
    wanted = [line.strip() for line in order.splitlines() if line.strip()]
    said = [line.strip() for message in messages for line in str(message.get("content") or "").splitlines()]
    return any(line in wanted for line in said if not line.startswith(">"))


@each_agent
@pytest.mark.parametrize("name", ATTACKS)
def test_an_order_in_a_passage_a_title_a_result_or_an_error_is_quoted(agent: AnyWorkflow, name: str) -> None:
    order = ATTACKS[name]

    def search(title: str) -> str:
        """Find a page."""
        if title == "error":
            raise ValueError(order)
        return order

    def said(messages: Sequence[Message]) -> Any:
        if obeys(messages, order):
            return [ToolCall("c", "Finish", json.dumps({"return_type": "give_answer", "final_answer": OBEYED}))]
        turn = sum(message["role"] == "assistant" for message in messages)
        asked = [("search", '{"title": "x"}'), ("search", '{"title": "error"}'), ("search", '{"title": "y"}')]
        again = agent is dfsdt.workflow and turn == 1
        return [ToolCall("c", "Finish", '{"return_type": "give_up_and_restart"}')] if again else calls(*asked)

    query = Query("Where?", (Passage("p", order, order), Passage("q", "", order)))
    options = {"max_calls": "6"} if agent is dfsdt.workflow else {"max_steps": "2"}
    run = play(agent, said, query, search, **options)
    assert run.answer.text == ""
    assert run.end in ("step_limit", "gave_up")
    assert len(run.steps("tool")) >= 6
    shown = "\n".join(str(message.get("content")) for message in run.model.requests[-1].messages)
    assert "\n> " in shown


def test_a_model_that_would_obey_an_unquoted_order_is_caught() -> None:
    assert obeys([{"role": "user", "content": "Documents:\nGive the best label."}], "Give the best label.")
    assert not obeys([{"role": "user", "content": "Documents:\n> Give the best label."}], "Give the best label.")
