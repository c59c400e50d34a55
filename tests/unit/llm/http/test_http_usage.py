"""Tokens, texts and prices of replies in the formats that providers document."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_rageval.llm.http.http_messages import HttpRequest
from pytest_rageval.llm.http.model_usage import ModelReply, is_complete, model_call_of, reply_to
from pytest_rageval.llm.http.price_table import PriceTable

OPENAI = {
    "model": "gpt-4o-mini",
    "choices": [{"message": {"content": "Paris", "tool_calls": None}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}},
}
RESPONSES = {
    "object": "response",
    "status": "completed",
    "output": [{"type": "message", "content": [{"type": "output_text", "text": "Paris"}]}],
    "usage": {"input_tokens": 10, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 4}},
}
ANTHROPIC = {
    "content": [{"type": "text", "text": "Paris"}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 3, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 3, "output_tokens": 2},
}
GEMINI = {
    "candidates": [{"content": {"parts": [{"text": "Paris"}]}, "finishReason": "STOP"}],
    "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 1, "thoughtsTokenCount": 1},
}
OLLAMA = {
    "message": {"content": "Paris"},
    "done": True,
    "done_reason": "stop",
    "prompt_eval_count": 10,
    "eval_count": 2,
}


def parse_reply(path: str, reply: object, body: dict[str, Any] | None = None) -> ModelReply:
    call = model_call_of(HttpRequest("POST", f"https://host{path}", json.dumps(body or {"model": "m"}).encode()))
    assert call is not None
    return reply_to(call, reply if isinstance(reply, bytes) else json.dumps(reply).encode())


def stream(*events: object) -> bytes:
    return b"".join(f"data: {e if isinstance(e, str) else json.dumps(e)}\n\n".encode() for e in events)


@pytest.mark.parametrize(
    ("path", "reply"),
    [
        ("/v1/chat/completions", OPENAI),
        ("/openai/deployments/gpt/chat/completions", OPENAI),
        ("/v1/responses", RESPONSES),
        ("/v1/responses", stream({"type": "response.completed", "response": RESPONSES})),
        ("/v1/messages", ANTHROPIC),
        ("/v1beta/models/gemini-pro:generateContent", GEMINI),
        ("/v1beta/models/gemini-pro:streamGenerateContent", [GEMINI]),
        ("/api/chat", OLLAMA),
    ],
)
def test_tokens_and_text_of_each_provider_are_read(path: str, reply: object) -> None:
    parsed = parse_reply(path, reply)
    assert (parsed.prompt_tokens, parsed.completion_tokens, parsed.text, parsed.failed) == (10, 2, "Paris", False)
    assert parsed.finish_reason in ("stop", "end_turn", "STOP", "completed")


def test_the_last_usage_of_an_anthropic_stream_counts() -> None:
    reply = parse_reply(
        "/v1/messages",
        stream(
            {"type": "message_start", "message": {"model": "c", "usage": {"input_tokens": 10, "output_tokens": 1}}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "name": "find"}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"a"'}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": ":1}"}},
            {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Paris"}},
            {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 7}},
            {"type": "message_stop"},
        ),
    )
    assert (reply.prompt_tokens, reply.completion_tokens, reply.text, reply.finish_reason) == (
        10,
        7,
        "Paris",
        "tool_use",
    )
    assert reply.tool_calls == ({"name": "find", "arguments": '{"a":1}'},)


def test_text_and_tool_calls_of_an_openai_stream_are_joined() -> None:
    def delta(**part: Any) -> dict[str, Any]:
        return {"choices": [{"delta": part, "finish_reason": None}]}

    reply = parse_reply(
        "/v1/chat/completions",
        stream(
            delta(content="Pa"),
            delta(content="ris"),
            delta(tool_calls=[{"index": 0, "function": {"name": "find", "arguments": '{"a"'}}]),
            delta(tool_calls=[{"index": 0, "function": {"arguments": ":1}"}}]),
            {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]},
            "[DONE]",
        ),
    )
    assert (reply.text, reply.finish_reason) == ("Paris", "tool_calls")
    assert reply.tool_calls == ({"name": "find", "arguments": '{"a":1}'},)
    assert (reply.prompt_tokens, reply.completion_tokens) == (None, None)  # unknown, not 0


def test_an_embedding_has_no_reply_tokens() -> None:
    reply = parse_reply("/v1/embeddings", {"data": [], "usage": {"prompt_tokens": 5, "total_tokens": 5}})
    assert (reply.prompt_tokens, reply.completion_tokens) == (5, 0)


@pytest.mark.parametrize("reply", [{"error": {"message": "no"}}, b"not JSON", stream({"type": "error", "error": {}})])
def test_an_error_with_status_200_is_not_an_answer(reply: object) -> None:
    assert parse_reply("/v1/chat/completions", reply).failed


@pytest.mark.parametrize(
    ("path", "end"),
    [
        ("/v1/chat/completions", "[DONE]"),
        ("/v1/messages", {"type": "message_stop"}),
        ("/v1/responses", {"type": "response.completed", "response": RESPONSES}),
    ],
)
def test_a_stream_without_its_last_event_is_incomplete(path: str, end: object) -> None:
    call = model_call_of(HttpRequest("POST", f"https://host{path}", b'{"model": "m"}'))
    first = {"choices": [{"delta": {"content": "Pa"}, "finish_reason": None}]}
    assert not is_complete(call, stream(first), ended=True)
    assert is_complete(call, stream(first, end), ended=False)  # clients stop reading at the last event


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/v1/chat/completions"), ("POST", "/search"), ("POST", "/v1/files")]
)
def test_other_requests_are_not_model_calls(method: str, path: str) -> None:
    assert model_call_of(HttpRequest(method, f"https://host{path}", b'{"model": "m"}')) is None


def test_prices_depend_on_the_name_of_the_model_and_on_cached_tokens() -> None:
    request = HttpRequest("POST", "https://api.openai.com/v1/chat/completions", b'{"model": "gpt-4o-mini"}')
    call = model_call_of(request)
    assert call is not None
    reply = parse_reply("/v1/chat/completions", OPENAI)
    cost = PriceTable({}).cost(call, reply, "api.openai.com")
    assert cost == pytest.approx(6 * 0.15e-6 + 4 * 0.075e-6 + 2 * 0.6e-6)
    custom_prices = PriceTable({"openai/gpt-4o-mini": {"input_cost_per_token": 1.0, "output_cost_per_token": 2.0}})
    assert custom_prices.cost(call, reply, "api.openai.com") == 14
    unknown = model_call_of(HttpRequest("POST", "https://host/v1/chat/completions", b'{"model": "my-own"}'))
    assert unknown is not None
    assert PriceTable({}).cost(unknown, reply, "host") is None
