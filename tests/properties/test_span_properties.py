"""Spans with any content can be read, and no step is invented."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from pytest_rageval.trace.otel.convert import DIALECTS, convert, dialect_of, step_spans
from pytest_rageval.trace.otel.evaluations import failed_evaluations
from pytest_rageval.trace.otel.exchange import exchange_of
from pytest_rageval.trace.otel.spans import Span, parse_span, span_json, spans_in
from pytest_rageval.trace.steps import KINDS

KEYS = (
    "gen_ai.operation.name", "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.tool.call.arguments",
    "gen_ai.tool.call.result", "gen_ai.retrieval.documents", "gen_ai.usage.input_tokens", "gen_ai.completion.0.content",
    "gen_ai.response.finish_reasons", "openinference.span.kind", "input.value", "output.value", "tool.name",
    "retrieval.documents.0.document.metadata", "retrieval.documents.0.document.content", "llm.token_count.prompt",
    "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments", "traceloop.span.kind", "output", "input",
    "traceloop.entity.input", "traceloop.entity.output", "agents.type", "usage", "error.type",
)  # fmt: skip
WORDS = ("chat", "execute_tool", "retrieval", "LLM", "TOOL", "RETRIEVER", "vector_db_retrieve", "tool", "generation",
         "function", "response", "{'a': [", '{"output": {"kwargs": {"content": 1}}}', "\ud800", "\0", "")  # fmt: skip

NAMES = st.sampled_from(
    ["id", "text", "content", "role", "parts", "messages", "metadata", "kwargs", "lc", "type", "output", "outputs",
     "documents", "document", "score", "inputs", "tool_calls", "function", "generations", "message", "data", "status"]
)  # fmt: skip
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(WORDS)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4), max_leaves=12
)
ATTRIBUTES = st.dictionaries(st.sampled_from(KEYS), VALUES | VALUES.map(json.dumps), max_size=8)
IDS = st.sampled_from(["a", "b", "c", ""])
SPANS = st.lists(
    st.builds(
        Span, st.text(max_size=3), st.just("t"), IDS, IDS, st.floats(0, 2e9), st.none() | st.floats(0, 2e9), ATTRIBUTES,
        st.none() | st.text(max_size=9),
    ),
    max_size=6,
)  # fmt: skip


@given(SPANS)
def test_any_attributes_are_read(spans: list[Span]) -> None:
    converted, exchange = convert(spans), exchange_of(spans)
    dialect = dialect_of(spans)
    assert dialect is None or dialect in DIALECTS
    assert len(converted.steps) <= len({span.span_id for span in spans})
    for place, step in enumerate(converted.steps):
        assert step.kind in KINDS
        assert step.detail.get("parent", place) <= place
    assert isinstance(exchange.question, str)
    for span in step_spans(spans):
        again = parse_span(span_json(span))
        assert again is not None
        assert (again.span_id, again.parent_id) == (span.span_id, span.parent_id)
        assert set(again.attributes) - {"error.type"} == set(span.attributes) - {"error.type"}


EXPORTED_SPANS = st.dictionaries(
    st.sampled_from(
        ["traceId", "spanId", "span_id", "context", "parent_id", "name", "attributes", "status", "events", "start_time",
         "startTimeUnixNano", "endTimeUnixNano", "object", "span_data", "error", "started_at", "resourceSpans", "spans"]
    ),
    VALUES | ATTRIBUTES | st.lists(st.fixed_dictionaries({"key": st.sampled_from(KEYS), "value": VALUES}), max_size=3),
    max_size=8,
)  # fmt: skip


@given(st.lists(EXPORTED_SPANS, max_size=4) | VALUES | EXPORTED_SPANS)
@example([{"events": True}])
def test_any_json_is_read(value: Any) -> None:
    spans = spans_in(value)
    convert(spans)
    exchange_of(spans)
    failed_evaluations(value)
