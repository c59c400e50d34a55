"""Tokens and texts of providers' replies, as their documentation shows them."""

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


def read(path: str, reply: object, body: dict[str, Any] | None = None) -> ModelReply:
    asked = model_call_of(HttpRequest("POST", f"https://host{path}", json.dumps(body or {"model": "m"}).encode()))
    assert asked is not None
    return reply_to(asked, reply if isinstance(reply, bytes) else json.dumps(reply).encode())


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
def test_tokens_and_text_of_each_provider(path: str, reply: object) -> None:
    said = read(path, reply)
    assert (said.prompt_tokens, said.completion_tokens, said.text, said.failed) == (10, 2, "Paris", False)
    assert said.finish_reason in ("stop", "end_turn", "STOP", "completed")


def test_a_stream_of_anthropic_counts_its_last_usage() -> None:
    said = read(
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
    assert (said.prompt_tokens, said.completion_tokens, said.text, said.finish_reason) == (10, 7, "Paris", "tool_use")
    assert said.tool_calls == ({"name": "find", "arguments": '{"a":1}'},)


def test_a_stream_of_openai_joins_text_and_tool_calls() -> None:
    def delta(**part: Any) -> dict[str, Any]:
        return {"choices": [{"delta": part, "finish_reason": None}]}

    said = read(
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
    assert (said.text, said.finish_reason) == ("Paris", "tool_calls")
    assert said.tool_calls == ({"name": "find", "arguments": '{"a":1}'},)
    assert (said.prompt_tokens, said.completion_tokens) == (None, None)  # unknown, not 0


def test_an_embedding_has_no_reply_tokens() -> None:
    said = read("/v1/embeddings", {"data": [], "usage": {"prompt_tokens": 5, "total_tokens": 5}})
    assert (said.prompt_tokens, said.completion_tokens) == (5, 0)


@pytest.mark.parametrize("reply", [{"error": {"message": "no"}}, b"not JSON", stream({"type": "error", "error": {}})])
def test_an_error_with_status_200_is_not_an_answer(reply: object) -> None:
    assert read("/v1/chat/completions", reply).failed


@pytest.mark.parametrize(
    ("path", "end"),
    [
        ("/v1/chat/completions", "[DONE]"),
        ("/v1/messages", {"type": "message_stop"}),
        ("/v1/responses", {"type": "response.completed", "response": RESPONSES}),
    ],
)
def test_a_stream_without_its_last_event_is_cut(path: str, end: object) -> None:
    asked = model_call_of(HttpRequest("POST", f"https://host{path}", b'{"model": "m"}'))
    first = {"choices": [{"delta": {"content": "Pa"}, "finish_reason": None}]}
    assert not is_complete(asked, stream(first), ended=True)
    assert is_complete(asked, stream(first, end), ended=False)  # clients stop reading at the last event


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/v1/chat/completions"), ("POST", "/search"), ("POST", "/v1/files")]
)
def test_other_requests_ask_no_model(method: str, path: str) -> None:
    assert model_call_of(HttpRequest(method, f"https://host{path}", b'{"model": "m"}')) is None


def test_prices_depend_on_the_name_of_the_model_and_on_cached_tokens() -> None:
    call = HttpRequest("POST", "https://api.openai.com/v1/chat/completions", b'{"model": "gpt-4o-mini"}')
    asked = model_call_of(call)
    assert asked is not None
    said = read("/v1/chat/completions", OPENAI)
    cost = PriceTable({}).cost(asked, said, "api.openai.com")
    assert cost == pytest.approx(6 * 0.15e-6 + 4 * 0.075e-6 + 2 * 0.6e-6)
    own = PriceTable({"openai/gpt-4o-mini": {"input_cost_per_token": 1.0, "output_cost_per_token": 2.0}})
    assert own.cost(asked, said, "api.openai.com") == 14
    unknown = model_call_of(HttpRequest("POST", "https://host/v1/chat/completions", b'{"model": "my-own"}'))
    assert unknown is not None
    assert PriceTable({}).cost(unknown, said, "host") is None
