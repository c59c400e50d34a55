"""Tool calls in requests and replies of both backends over HTTP."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

import pytest
from support.samples.backend_cases import Backend, each_backend, used
from support.servers.openai_replies import calls_of_tools, completion
from support.servers.openai_server import Fault, OpenAIServer

from pytest_rageval.errors import ModelError, message_with_code
from pytest_rageval.llm.backends.litellm_backend import LiteLLM
from pytest_rageval.llm.backends.named_model import is_plain
from pytest_rageval.llm.backends.openai_http import OpenAIHTTP
from pytest_rageval.model.chat import Completion, Message, ToolCall

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "search",
            "description": "Find a page.",
            "parameters": {"type": "object", "properties": {"title": {"type": "string"}}},
        },
    }
]
CONVERSATION: list[Message] = [
    {"role": "user", "content": "Where is Orsay?"},
    Completion("", tool_calls=(ToolCall("call_x7", "search", '{"title": "Orsay"}'),)).message,
    {"role": "tool", "tool_call_id": "call_x7", "content": "Orsay is a museum in Paris."},
]


@pytest.fixture(autouse=True)
def _without_mcp(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ``import mcp`` fail, as if the package were not installed."""
    monkeypatch.setitem(sys.modules, "mcp", None)


def ask(
    server: OpenAIServer, backend: Backend, model: str, messages: list[Message] = CONVERSATION, **params: Any
) -> Completion:
    params = {"api_base": server.base_url, "api_key": "sk-test", "tools": TOOLS, **params}
    return used(backend, model, lambda opened: opened.complete(messages, **params))


@each_backend
def test_tools_and_stop_sequences_and_tool_results_are_sent_unchanged(
    openai_server: OpenAIServer, backend: Backend, model: str
) -> None:
    ask(openai_server, backend, model, tool_choice="auto", stop=["\nObservation"])
    (request,) = openai_server.requests
    assert {name: request.body[name] for name in ("tools", "tool_choice", "stop")} == {
        "tools": TOOLS,
        "tool_choice": "auto",
        "stop": ["\nObservation"],
    }
    sent = [{"content": None, **message} for message in request.body["messages"]]  # litellm leaves out null
    assert sent == CONVERSATION


def test_a_conversation_with_tools_needs_no_litellm() -> None:
    assert is_plain("openai/gpt-4o-mini", {"tools": TOOLS, "tool_choice": "auto", "stop": ["x"]})


@each_backend
def test_tool_calls_are_read_together_with_the_text(openai_server: OpenAIServer, backend: Backend, model: str) -> None:
    calls = ("search", '{"title": "Orsay"}'), ("search", '{"title": ')
    openai_server.reply = lambda body: calls_of_tools(body, *calls, text="I look it up.")
    reply = ask(openai_server, backend, model)
    assert (reply.text, reply.finish_reason) == ("I look it up.", "tool_calls")
    assert [(call.name, call.arguments) for call in reply.tool_calls] == list(calls)
    assert all(call.id.startswith("call_") for call in reply.tool_calls)
    assert reply.message["tool_calls"][0]["function"] == {"name": "search", "arguments": '{"title": "Orsay"}'}


def replying_with(message: Mapping[str, Any]) -> Any:
    """Return a server's reply function with this message."""
    choice = {"index": 0, "message": {"role": "assistant", "content": None, **message}, "finish_reason": "stop"}
    return lambda body: {**completion(body, ""), "choices": [choice]}


def test_calls_without_ids_and_with_arguments_as_json_are_read(openai_server: OpenAIServer) -> None:
    functions = [{"name": "search", "arguments": {"title": "Café"}}, {"name": "stop"}]
    openai_server.reply = replying_with({"tool_calls": [{"type": "function", "function": each} for each in functions]})
    reply = ask(openai_server, OpenAIHTTP, "openai/m")
    assert reply.tool_calls == (
        ToolCall("call00001", "search", '{"title": "Café"}'),
        ToolCall("call00002", "stop", "{}"),
    )
    assert reply.finish_reason == "tool_calls"


@pytest.mark.parametrize("tool_calls", ["search", [{"id": "x"}], [{"function": {"arguments": "{}"}}], [None]])
def test_malformed_tool_calls_raise_a_malformed_response_error(openai_server: OpenAIServer, tool_calls: object) -> None:
    openai_server.reply = replying_with({"tool_calls": tool_calls})
    with pytest.raises(ModelError) as raised:
        ask(openai_server, OpenAIHTTP, "openai/m")
    assert raised.value.kind == "malformed_response"


REFUSALS = {
    "Ollama": (400, "registry.ollama.ai/library/llama2:latest does not support tools"),
    "vLLM": (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
    "llama.cpp": (500, "tools param requires --jinja flag"),
    "OpenRouter": (
        404,
        "No endpoints found that support tool use. To learn more, visit: https://openrouter.ai/docs",
    ),
    "Groq": (400, "`tool calling` is not supported with this model"),
    "DeepSeek": (400, "deepseek-reasoner does not support Function Calling"),
    "Mistral": (400, "Function calling is not enabled for this model"),
    "Bedrock": (400, "This model doesn't support tool use."),
    "OpenAI": (400, "Unrecognized request argument supplied: tools"),
    "OpenAI, later": (400, "Unsupported parameter: 'tools' is not supported with this model."),
    "a strict server": (422, "body.tools: Extra inputs are not permitted"),
    "pydantic": (422, "{'type': 'extra_forbidden', 'loc': ('body', 'tools'), 'msg': 'Extra inputs are not permitted'}"),
}
OTHER_REFUSALS = {
    "a schema": "Invalid schema for function 'search': In context=('properties',), 'oneOf' is not permitted.",
    "calls at once": "Unsupported parameter: 'parallel_tool_calls' is not supported with this model.",
    "another parameter": "Unsupported parameter: 'temperature' is not supported with this model.",
    "the conversation": "messages with role 'tool' must be a response to a preceding message with 'tool_calls'.",
    "a name": "Invalid 'tools[0].function.name': string does not match pattern.",
    "a part of a tool": "Unknown parameter: 'tools[0].function.strict'.",
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_server_that_refuses_tools_gives_one_sentence(openai_server: OpenAIServer, name: str) -> None:
    status, message = REFUSALS[name]
    openai_server.plan = lambda number, body: Fault("status", status, message=message)
    with pytest.raises(ModelError) as raised:
        ask(openai_server, OpenAIHTTP, "openai/m")
    assert (raised.value.kind, len(openai_server.requests)) == ("no_tools", 1)
    assert message_with_code(raised.value) == "the model openai/m takes no tools; use react, which needs none [RAG404]"


@pytest.mark.parametrize("name", ["Ollama", "vLLM", "OpenRouter", "llama.cpp"])
def test_litellm_reports_refused_tools_with_the_same_sentence(openai_server: OpenAIServer, name: str) -> None:
    status, message = REFUSALS[name]
    openai_server.plan = lambda number, body: Fault("status", status, message=message)
    with pytest.raises(ModelError, match=r"^the model hosted_vllm/m takes no tools; use react, which needs none$"):
        ask(openai_server, LiteLLM, "hosted_vllm/m")


@pytest.mark.parametrize("name", OTHER_REFUSALS)
def test_a_refusal_of_something_else_is_quoted(openai_server: OpenAIServer, name: str) -> None:
    openai_server.plan = lambda number, body: Fault("status", 400, message=OTHER_REFUSALS[name])
    with pytest.raises(ModelError) as raised:
        ask(openai_server, OpenAIHTTP, "openai/m")
    assert raised.value.kind == "bad_request"
    assert OTHER_REFUSALS[name].rstrip(".")[:60] in str(raised.value)


def test_a_refusal_of_tools_is_quoted_if_the_request_has_none(openai_server: OpenAIServer) -> None:
    openai_server.plan = lambda number, body: Fault("status", 400, message=REFUSALS["Ollama"][1])
    with pytest.raises(ModelError, match="does not support tools"):
        ask(openai_server, OpenAIHTTP, "openai/m", tools=[])


@pytest.mark.parametrize("model", ["hosted_vllm/some-model", "together_ai/of-our-own", "openai/o1-mini", "deepinfra/x"])
def test_litellm_sends_the_tools_of_models_that_it_does_not_know(openai_server: OpenAIServer, model: str) -> None:
    ask(openai_server, LiteLLM, model, tool_choice="auto")
    (request,) = openai_server.requests
    assert (request.body["tools"], request.body["tool_choice"]) == (TOOLS, "auto")


def test_litellm_does_not_change_the_callers_tools(openai_server: OpenAIServer) -> None:
    parameters = {"type": "object", "properties": {}, "additionalProperties": False}
    tools = [{"type": "function", "function": {"name": "search", "strict": True, "parameters": parameters}}]
    before = json.dumps(tools)
    ask(openai_server, LiteLLM, "hosted_vllm/m", tools=tools)
    assert json.dumps(tools) == before


def test_ollama_gets_requests_with_tools_at_its_chat_endpoint(openai_server: OpenAIServer) -> None:
    call = {"function": {"name": "search", "arguments": {"title": "Orsay"}}}
    openai_server.reply = lambda body: {
        "model": "llama3",
        "message": {"role": "assistant", "content": "", "tool_calls": [call]},
        "done": True,
        "done_reason": "stop",
        "prompt_eval_count": 5,
        "eval_count": 2,
    }
    address = openai_server.base_url.removesuffix("/v1")
    reply = ask(openai_server, LiteLLM, "ollama/llama3", CONVERSATION[:1], api_base=address, tool_choice="auto")
    (request,) = openai_server.requests
    assert (request.path, request.body["tools"], request.body.get("format")) == ("/api/chat", TOOLS, None)
    (tool_call,) = reply.tool_calls
    assert (tool_call.name, json.loads(tool_call.arguments)) == ("search", {"title": "Orsay"})
