"""Identity of HTTP requests: which requests share a recording."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from pytest_rageval.llm.http.http_messages import HttpRequest
from pytest_rageval.llm.http.request_identity import request_of

URL = "https://api.openai.com/v1/chat/completions"


def key(body: object = None, url: str = URL, kind: str = "application/json", method: str = "POST") -> str:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return request_of(HttpRequest(method, url, content, kind), "api.openai.com", 1).key


def chat(text: str, **fields: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": text}], **fields}


def with_tool(call_id: str) -> dict[str, Any]:
    call = {"id": call_id, "type": "function", "function": {"name": "search", "arguments": "{}"}}
    return chat("hi", tools=[]) | {
        "messages": [
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call_id, "content": "found"},
        ]
    }


UUIDS = "3f0e6a52-9d1b-4c58-8a3e-0f8f6f2e7c11", "b7d5c1aa-0a55-4a8b-9f0c-4f1c3a1d2e90"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1.0}),
        (with_tool("call_a1B2c3D4e5"), with_tool("call_Z9y8X7w6V5")),
        (with_tool(UUIDS[0]), with_tool(UUIDS[1])),
        (chat("hi", metadata={"run": UUIDS[0]}), chat("hi", metadata={"run": UUIDS[1]})),
        (chat("hi", api_key="one"), chat("hi", api_key="two")),
    ],
)
def test_fields_that_do_not_affect_the_reply_do_not_change_the_key(one: object, other: object) -> None:
    assert key(one) == key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (chat("Where is Paris?"), chat("Where is Rome?")),
        (chat("hi", temperature=0), chat("hi", temperature=1)),
        (chat(f"Order {UUIDS[0]}"), chat(f"Order {UUIDS[1]}")),
        (chat("hi", previous_response_id="resp_aaaaaaaaaa1"), chat("hi", previous_response_id="resp_bbbbbbbbbb2")),
        ({"filter": {"key": "city"}}, {"filter": {"key": "topic"}}),
        ({"id": UUIDS[0]}, {"id": UUIDS[1]}),
        ([1, 2], [2, 1]),
    ],
)
def test_fields_that_affect_the_reply_change_the_key(one: object, other: object) -> None:
    assert key(one) != key(other)


def test_a_schema_of_several_types_has_a_key() -> None:
    def schema(*types: str) -> dict[str, Any]:
        return chat("hi", tools=[{"parameters": {"properties": {"city": {"type": list(types)}}}}])

    assert key(schema("string", "null")) != key(schema("string"))


def test_swapped_results_of_two_calls_change_the_key() -> None:
    def results(first: str, second: str) -> dict[str, Any]:
        calls = [
            {"id": each, "type": "function", "function": {"name": "f"}} for each in ("call_aaaaaa1", "call_bbbbbb2")
        ]
        messages = [{"role": "tool", "tool_call_id": each, "content": each[-1]} for each in (first, second)]
        return {"messages": [{"role": "assistant", "tool_calls": calls}, *messages]}

    assert key(results("call_aaaaaa1", "call_bbbbbb2")) != key(results("call_bbbbbb2", "call_aaaaaa1"))


def test_secrets_and_the_order_of_the_query_do_not_change_the_key() -> None:
    assert key(url=f"{URL}?a=1&b=2&key=geheim") == key(url=f"{URL}?key=other&b=2&a=1")
    assert key(url=f"{URL}?a=1") != key(url=f"{URL}?a=2")
    assert key(url=f"{URL}s") != key(url=URL)
    assert key(method="GET") != key()


def test_a_query_named_key_counts_unless_it_looks_like_a_secret() -> None:
    def lookup_key(name: str, text: str, host: str = "db.example") -> str:
        return request_of(HttpRequest("GET", f"http://{host}/pages?{name}={text}"), host, 1).key

    assert lookup_key("key", "opening+hours") != lookup_key("key", "prices")
    assert lookup_key("token", "page2") != lookup_key("token", "page3")
    assert lookup_key("key", "sk-geheim0123456789") == lookup_key("key", "AIzaOther9876543210")
    assert lookup_key("key", "none", "www.googleapis.com") == lookup_key("key", "other", "www.googleapis.com")
    request = request_of(HttpRequest("GET", "http://db.example/pages?key=geheim"), "db.example", 1)
    assert "geheim" not in repr(request)


def test_compression_of_a_body_does_not_change_the_key() -> None:
    def compressed_key(text: str, mtime: int) -> str:
        return key(gzip.compress(json.dumps(chat(text)).encode(), mtime=mtime))

    assert compressed_key("hi", 1) == compressed_key("hi", 2) == key(chat("hi"))
    assert compressed_key("hi", 1) != compressed_key("bye", 1)
    assert key(b"\x1f\x8bcut") != key(b"\x1f\x8bother")


def test_the_boundary_of_a_form_does_not_change_the_key() -> None:
    def form_key(boundary: str, text: str) -> str:
        body = f'--{boundary}\r\nContent-Disposition: form-data; name="a"\r\n\r\n{text}\r\n--{boundary}--\r\n'
        return key(body.encode(), kind=f"multipart/form-data; boundary={boundary}")

    assert form_key("aaa111", "x") == form_key("bbb222", "x")
    assert form_key("aaa111", "x") != form_key("aaa111", "y")


def test_other_bodies_are_compared_as_text_or_by_digest() -> None:
    form_type = "application/x-www-form-urlencoded"
    assert key(b"a=1&password=geheim", kind=form_type) == key(b"a=1&password=other", kind=form_type)
    assert key(b"a=1", kind=form_type) != key(b"a=2", kind=form_type)
    assert key(b"\xff\xfe", kind="image/png") != key(b"\xff\xfd", kind="image/png")
    assert key(b'{"a": NaN}') != key(b'{"a": Infinity}')


def test_no_secret_is_in_the_request() -> None:
    call = HttpRequest("POST", f"{URL}?api-key=geheim1", json.dumps({"api_key": "geheim2", "q": "x"}).encode())
    request = request_of(call, "api.openai.com", 1)
    assert "geheim" not in repr(request)
    assert request.params == {
        "method": "POST", "path": "/v1/chat/completions", "query": [["api-key", "<masked>"]],
    }  # fmt: skip
