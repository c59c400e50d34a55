"""Convert the native spans of the OpenAI Agents SDK to steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_rageval.trace.otel.dialect import Dialect, SpanStep, add_result, detail_of
from pytest_rageval.trace.otel.spans import AGENTS_TYPE, Span
from pytest_rageval.trace.otel.values import arguments_in
from pytest_rageval.trace.steps import COMPLETION, TOOL

__all__ = ["OPENAI_AGENTS"]


def _read(span: Span) -> SpanStep | None:
    kind = span.attributes.get(AGENTS_TYPE)
    if kind in ("generation", "response"):
        return _read_completion(span)
    return _read_tool(span) if kind == "function" else None  # turn and task repeat the usage of their calls


def _read_completion(span: Span) -> SpanStep:
    get = span.attributes.get
    usage = get("usage")
    usage = usage if isinstance(usage, Mapping) else {}
    text, calls = _output(get("output"))
    pairs = (
        ("model", get("model")),
        ("prompt", get("input")),
        ("text", text),
        ("tool_calls", calls or None),
        ("prompt_tokens", usage.get("input_tokens", usage.get("prompt_tokens"))),
        ("completion_tokens", usage.get("output_tokens", usage.get("completion_tokens"))),
    )
    return COMPLETION, detail_of(span, pairs)


def _output(messages: Any) -> tuple[str | None, list[dict[str, Any]]]:
    """Return the text and the tool calls of a reply, from chat messages or items of a response."""
    texts: list[str] = []
    calls: list[dict[str, Any]] = []
    for message in messages if isinstance(messages, list) else []:
        if not isinstance(message, Mapping):
            continue
        if message.get("type") == "function_call":
            calls.append(_call(message.get("call_id"), message))
        requests = [call for call in message.get("tool_calls") or [] if isinstance(call, Mapping)]
        calls += [
            _call(call.get("id"), call["function"]) for call in requests if isinstance(call.get("function"), Mapping)
        ]
        content = message.get("content")
        blocks: list[Any] = content if isinstance(content, list) else [{"text": content}]
        texts += [each["text"] for each in blocks if isinstance(each, Mapping) and isinstance(each.get("text"), str)]
    return "".join(texts) if texts else None, calls


def _call(name: Any, call: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": name, "name": call.get("name"), "arguments": arguments_in(call.get("arguments"))}


def _read_tool(span: Span) -> SpanStep:
    get = span.attributes.get
    detail = detail_of(span, (("name", str(get("name") or span.name)), ("arguments", arguments_in(get("input")))))
    add_result(detail, get("output"))
    return TOOL, detail


OPENAI_AGENTS = Dialect("openai_agents", lambda span: AGENTS_TYPE in span.attributes, _read)
