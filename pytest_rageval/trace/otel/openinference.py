"""Convert spans of OpenInference (Arize Phoenix: LangChain, LlamaIndex ...) to steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_rageval.trace.otel.dialect import CALL_ID, Dialect, SpanStep, add_result, detail_of
from pytest_rageval.trace.otel.messages import indexed_objects
from pytest_rageval.trace.otel.spans import Span
from pytest_rageval.trace.otel.values import arguments_in, decoded, passage, passage_of, passages_in
from pytest_rageval.trace.steps import COMPLETION, RETRIEVE, TOOL

__all__ = ["OPENINFERENCE"]

KIND = "openinference.span.kind"


def _read(span: Span) -> SpanStep | None:
    reader = {"LLM": _read_completion, "TOOL": _read_tool, "RETRIEVER": _read_retrieval}.get(_kind(span))
    return None if reader is None else reader(span)


def _kind(span: Span) -> str:
    return str(span.attributes.get(KIND) or "").upper()


def _read_completion(span: Span) -> SpanStep:
    get = span.attributes.get
    replies = indexed_objects(span, "llm.output_messages.")
    texts = [reply["message.content"] for reply in replies if isinstance(reply.get("message.content"), str)]
    calls = [call for reply in replies for call in _calls(reply)]
    prompt = [
        {"role": message.get("message.role"), "content": message.get("message.content")}
        for message in indexed_objects(span, "llm.input_messages.")
    ]
    pairs = (
        ("model", get("llm.model_name")),
        ("prompt", prompt or None),
        ("text", "".join(texts) if texts else get("output.value") if not replies else None),
        ("tool_calls", calls or None),
        ("prompt_tokens", _count(get("llm.token_count.prompt"))),
        ("completion_tokens", _count(get("llm.token_count.completion"))),
        ("finish_reason", get("llm.finish_reason")),
    )
    return COMPLETION, detail_of(span, pairs)


def _calls(reply: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the tool calls in one message of a model."""
    calls: dict[str, dict[str, Any]] = {}
    for key, value in reply.items():
        number, _, name = key.removeprefix("message.tool_calls.").partition(".tool_call.")
        if number.isdecimal() and name in ("id", "function.name", "function.arguments"):
            calls.setdefault(number, {})[name.removeprefix("function.")] = value
    return [{**call, "arguments": arguments_in(call.get("arguments"))} for _, call in sorted(calls.items())]


def _read_tool(span: Span) -> SpanStep:
    get = span.attributes.get
    pairs = (
        ("name", str(get("tool.name") or span.name)),
        ("arguments", arguments_in(get("input.value"))),
        (CALL_ID, get("tool_call.id") or get("tool.id")),
    )
    detail = detail_of(span, pairs)
    add_result(detail, get("output.value"))
    return TOOL, detail


def _read_retrieval(span: Span) -> SpanStep:
    get = span.attributes.get
    documents = [_document(each) for each in indexed_objects(span, "retrieval.documents.")]
    passages = documents or passages_in(decoded(get("output.value")))
    recorded = bool(passages) or get("output.value") is not None
    pairs = (("query", get("input.value")), ("retriever", span.name), ("passages", passages if recorded else None))
    return RETRIEVE, detail_of(span, pairs)


def _document(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document; its id and score may be in its metadata."""
    document = {key.removeprefix("document."): value for key, value in fields.items()}
    return passage_of(document) or passage(None, (document.get("id"),), document.get("score"))


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


OPENINFERENCE = Dialect("openinference", lambda span: KIND in span.attributes, _read)
