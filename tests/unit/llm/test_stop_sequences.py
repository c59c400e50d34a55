"""Stop sequences: replies end before them, even if the provider ignores them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from support.servers.openai_server import Fault, OpenAIServer

from pytest_rageval.errors import ModelError
from pytest_rageval.llm.backends.named_model import NamedModel
from pytest_rageval.llm.client.clients import Client
from pytest_rageval.llm.client.rate_limiter import Limiter
from pytest_rageval.llm.client.reply_cache import ReplyCache
from pytest_rageval.llm.client.retry import RetryPolicy
from pytest_rageval.model.chat import Completion, Message, ToolCall
from pytest_rageval.testing import ScriptedLLM

QUESTION: list[Message] = [{"role": "user", "content": "Where is Orsay?"}]
REPLY = "Thought 1: look.\nAction 1: Search[Orsay]\nObservation 1: made up"


def complete(backend: Any, cache: bool = False, **params: Any) -> Completion:
    reply_cache = ReplyCache() if cache else None
    settings: dict[str, Any] = {"limiter": Limiter(1), "retry": RetryPolicy(1), "reply_cache": reply_cache}

    async def run() -> Completion:
        model = Client(backend, name="openai/m", params=params, **settings)
        try:
            reply = await model.complete(QUESTION)
            return await model.complete(QUESTION) if cache else reply
        finally:
            await model.close()

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("stop", "text"),
    [
        (["\nObservation"], "Thought 1: look.\nAction 1: Search[Orsay]"),
        ("\n", "Thought 1: look."),
        (["\nObservation", "]"], "Thought 1: look.\nAction 1: Search[Orsay"),
        (["never"], REPLY),
        ([""], REPLY),
        ([], REPLY),
        (None, REPLY),
        ([3], REPLY),
    ],
)
def test_a_reply_ends_before_the_first_stop_sequence(stop: object, text: str) -> None:
    assert complete(ScriptedLLM(REPLY), stop=stop).text == text


def test_the_stop_sequences_are_sent_to_a_server_that_may_ignore_them(openai_server: OpenAIServer) -> None:
    openai_server.reply = REPLY
    connection: dict[str, Any] = {"api_base": openai_server.base_url, "api_key": "sk-test"}
    assert complete(NamedModel("openai/m"), stop=["\nObservation"], **connection).text.endswith("Search[Orsay]")
    assert openai_server.requests[0].body["stop"] == ["\nObservation"]


@pytest.mark.parametrize(
    "refusal",
    [
        "Unsupported parameter: 'stop' is not supported with this model.",
        "Unsupported value: 'stop' does not support this value",
        "`stop` is not allowed for reasoning models",
        "Unrecognized request argument supplied: 'stop'",
    ],
)
def test_a_model_that_refuses_stop_is_asked_without_it(openai_server: OpenAIServer, refusal: str) -> None:
    openai_server.reply = REPLY
    openai_server.plan = lambda number, body: Fault("status", 400, message=refusal) if "stop" in body else None
    connection: dict[str, Any] = {"api_base": openai_server.base_url, "api_key": "sk-test", "stop": ["\nObservation"]}

    async def run() -> list[str]:
        model = Client(NamedModel("openai/m"), name="m", params=connection, limiter=Limiter(1), retry=RetryPolicy(1))
        texts = [(await model.complete(QUESTION)).text for _ in range(2)]
        await model.close()
        return texts

    assert asyncio.run(run()) == ["Thought 1: look.\nAction 1: Search[Orsay]"] * 2
    assert ["stop" in request.body for request in openai_server.requests] == [True, False, False]


def test_a_refusal_of_another_parameter_is_raised(openai_server: OpenAIServer) -> None:
    message = "Unsupported parameter: 'seed' is not supported; please stop"
    openai_server.plan = lambda number, body: Fault("status", 400, message=message)
    connection: dict[str, Any] = {"api_base": openai_server.base_url, "api_key": "sk-test"}
    with pytest.raises(ModelError, match="seed"):
        complete(NamedModel("openai/m"), stop=["\n"], **connection)
    assert len(openai_server.requests) == 1


def test_a_replayed_reply_is_also_cut() -> None:
    reply = complete(ScriptedLLM(REPLY), cache=True, stop=["\n"])
    assert (reply.text, reply.replayed) == ("Thought 1: look.", True)


def test_a_reply_that_we_cut_has_the_finish_reason_stop() -> None:
    reply = complete(ScriptedLLM([Completion(REPLY, finish_reason="length")]), stop=["\n"])
    assert reply.finish_reason == "stop"
    assert complete(ScriptedLLM([Completion(REPLY, finish_reason="length")]), stop=["x"]).finish_reason == "length"


def test_a_refusal_is_not_cut() -> None:
    refusal = Completion("I will not.\nSorry.", finish_reason="stop", refused=True)
    assert complete(ScriptedLLM([refusal]), stop=["\n"]).text == "I will not.\nSorry."


def test_a_cut_reply_keeps_its_tool_calls() -> None:
    call = ToolCall("c1", "search", '{"title": "a\\nb"}')
    reply = Completion("I look.\nNow.", finish_reason="tool_calls", tool_calls=(call,))
    reply_cut = complete(ScriptedLLM([reply]), stop=["\n"])
    assert (reply_cut.text, reply_cut.tool_calls, reply_cut.finish_reason) == ("I look.", (call,), "tool_calls")


# Valid replies to a request that offers tools

CALL = (ToolCall("c1", "search", "{}"),)
OFFERED_TOOLS: dict[str, Any] = {"tools": [{"type": "function", "function": {"name": "search"}}]}


@pytest.mark.parametrize("reason", ["tool_calls", "stop", "function_call"])
def test_a_call_of_an_offered_tool_is_a_valid_reply(reason: str) -> None:
    reply = Completion("", finish_reason=reason, tool_calls=CALL)
    assert complete(ScriptedLLM([reply]), **OFFERED_TOOLS).tool_calls == CALL


@pytest.mark.parametrize(
    ("reason", "params", "kind"),
    [
        ("tool_calls", {}, "empty_reply"),
        ("length", OFFERED_TOOLS, "cut_off"),
        ("content_filter", OFFERED_TOOLS, "filtered"),
    ],
)
def test_a_tool_call_that_was_not_offered_or_is_incomplete_is_an_error(
    reason: str, params: dict[str, Any], kind: str
) -> None:
    with pytest.raises(ModelError) as raised:
        complete(ScriptedLLM([Completion("", finish_reason=reason, tool_calls=CALL)]), **params)
    assert raised.value.kind == kind
