"""Laws of recorded HTTP bodies: any body is replayed unchanged, and none causes an internal error."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.llm.http.http_messages import HttpReply, HttpRequest
from pytest_rageval.llm.http.model_usage import events_of, is_complete, model_call_of, reply_to
from pytest_rageval.llm.http.request_identity import request_of
from pytest_rageval.llm.http.stored_reply import reply_of, to_record
from pytest_rageval.llm.recordings.records import to_line

NAMES = st.sampled_from([
    "choices", "message", "delta", "content", "text", "tool_calls", "function", "name", "arguments", "usage", "type",
    "prompt_tokens", "input_tokens", "output_tokens", "response", "output", "error", "candidates", "parts", "done",
    "index", "content_block", "finish_reason", "partial_json", "id", "metadata", "tool_call_id", "api_key", "role",
])  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES | st.text(max_size=5), inner, max_size=5),
    max_leaves=25,
)
TYPES = st.sampled_from(
    ["application/json", "text/event-stream", "application/x-ndjson", "text/plain", "image/png", ""]
)
PATHS = st.sampled_from(["/v1/chat/completions", "/v1/messages", "/v1/responses", "/v1/embeddings", "/api/chat"])


def bodies(value: Any, raw: bytes) -> list[bytes]:
    """Return a value as JSON, as a stream of events and in pieces, and bytes as they are."""
    text = json.dumps(value).encode()
    return [text, b"data: " + text + b"\n\ndata: [DONE]\n\n", text + b"\n" + text + b"\n", raw, text[: len(text) // 2]]


@given(value=JSON, raw=st.binary(max_size=60), kind=TYPES)
def test_a_reply_is_replayed_byte_by_byte(value: Any, raw: bytes, kind: str) -> None:
    request = request_of(HttpRequest("POST", "https://host/v1/x", b"{}"), "host", 1)
    for body in bodies(value, raw):
        record = to_record(HttpReply(200, {"content-type": kind}, (body,)), of_model=True)
        stored = json.loads(to_line(request, record))["response"]
        reply = reply_of(stored)
        assert reply.body == body
        assert reply.content_type == kind


@given(value=JSON, raw=st.binary(max_size=60), path=PATHS)
def test_any_reply_of_a_server_is_read_without_an_error(value: Any, raw: bytes, path: str) -> None:
    for body in bodies(value, raw):
        call = model_call_of(HttpRequest("POST", f"https://host{path}", b'{"model": "m"}'))
        assert call is not None
        reply = reply_to(call, body)
        assert (reply.prompt_tokens is None) == (reply.completion_tokens is None)
        assert isinstance(reply.text, str)
        assert is_complete(call, body, ended=True) in (True, False)
        assert all(isinstance(event, dict) for event in events_of(body))


@given(value=JSON, raw=st.binary(max_size=60), kind=TYPES)
def test_the_key_of_any_request_does_not_depend_on_the_order_of_its_fields(value: Any, raw: bytes, kind: str) -> None:
    for body in bodies(value, raw):
        call = HttpRequest("POST", "https://host/v1/x", body, kind)
        assert request_of(call, "host", 1).key == request_of(call, "host", 1).key
    if isinstance(value, dict):
        reordered = dict(reversed(value.items()))
        keys = {
            request_of(HttpRequest("POST", "https://host/", json.dumps(each).encode()), "host", 1).key
            for each in (value, reordered)
        }
        assert len(keys) == 1
