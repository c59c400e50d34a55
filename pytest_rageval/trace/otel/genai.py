"""Read spans in OpenTelemetry's conventions (``gen_ai.*``), in several versions."""

from __future__ import annotations

from typing import Any

from pytest_rageval.trace.otel.dialect import CALL_ID, Dialect, SpanStep, add_result, detail_of
from pytest_rageval.trace.otel.messages import indexed_objects, prompt_of, reply_of
from pytest_rageval.trace.otel.spans import Span
from pytest_rageval.trace.otel.values import arguments_in, decoded, passage, passage_of
from pytest_rageval.trace.steps import COMPLETION, RETRIEVE, TOOL

__all__ = ["GENAI", "operation_of", "read_completion", "read_tool"]

OPERATION = "gen_ai.operation.name"
OLD_OPERATION = "llm.request.type"
MODEL_CALLS = ("chat", "text_completion", "generate_content", "completion")


def operation_of(span: Span) -> str:
    """Return the operation of a span, "" if it has none."""
    return str(span.attributes.get(OPERATION) or span.attributes.get(OLD_OPERATION) or "")


def _read(span: Span) -> SpanStep | None:
    operation = operation_of(span)
    if operation in MODEL_CALLS:
        return read_completion(span)
    if operation == "execute_tool":
        return read_tool(span)
    if operation == "retrieval":
        return _read_retrieval(span)
    return None


def read_completion(span: Span) -> SpanStep:
    """Return the step of a model call."""
    get = span.attributes.get
    reasons = decoded(get("gen_ai.response.finish_reasons"))
    prompt = prompt_of(decoded(get("gen_ai.input.messages"))) or indexed_objects(span, "gen_ai.prompt.")
    replies = decoded(get("gen_ai.output.messages"))
    text, calls = reply_of(replies if isinstance(replies, list) else indexed_objects(span, "gen_ai.completion."))
    detail = detail_of(
        span,
        (
            ("model", _model_name(get("gen_ai.response.model")) or _model_name(get("gen_ai.request.model"))),
            ("prompt", prompt or None),
            ("text", text),
            ("tool_calls", calls or None),
            ("prompt_tokens", _count(span, "input_tokens", "prompt_tokens")),
            ("completion_tokens", _count(span, "output_tokens", "completion_tokens")),
            ("finish_reason", reasons[0] if isinstance(reasons, list) and reasons else None),
        ),
    )
    return COMPLETION, detail


def read_tool(span: Span) -> SpanStep:
    """Return the step of a tool call, with the result if it was recorded."""
    get = span.attributes.get
    written = _first(span, "gen_ai.tool.call.arguments", "tool_arguments", "traceloop.entity.input")
    detail = detail_of(
        span,
        (
            ("name", str(get("gen_ai.tool.name") or get("traceloop.entity.name") or span.name)),
            (
                "arguments",
                arguments_in(written),
            ),
            (CALL_ID, get("gen_ai.tool.call.id")),
        ),
    )
    add_result(detail, _first(span, "gen_ai.tool.call.result", "tool_response", "traceloop.entity.output"))
    return TOOL, detail


def _read_retrieval(span: Span) -> SpanStep:
    get = span.attributes.get
    documents = decoded(get("gen_ai.retrieval.documents"))
    passages = [_document(each) for each in documents] if isinstance(documents, list) else None
    pairs = (
        ("query", get("gen_ai.retrieval.query.text")),
        ("retriever", get("gen_ai.data_source.id")),
        ("passages", None if passages is None else [each for each in passages if each is not None]),
    )
    return RETRIEVE, detail_of(span, pairs)


def _document(item: Any) -> dict[str, Any] | None:
    """Return a retrieved document as a passage, possibly without text."""
    item = decoded(item)
    if isinstance(item, dict) and "id" in item:
        return passage_of(item) or passage(None, (item["id"],), item.get("score"))
    return passage_of(item)


def _count(span: Span, *names: str) -> int | None:
    """Return a number of tokens, which may have any of these names."""
    for name in names:
        value = span.attributes.get(f"gen_ai.usage.{name}")
        if type(value) is int:
            return value
    return None


def _model_name(model: Any) -> str | None:
    return str(model) if model and model != "unknown" else None


def _first(span: Span, *names: str) -> Any:
    return next((span.attributes[name] for name in names if span.attributes.get(name) is not None), None)


GENAI = Dialect("gen_ai", lambda span: bool(operation_of(span)), _read)
