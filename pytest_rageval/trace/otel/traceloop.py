"""Read spans of Traceloop's instrumentations: ``gen_ai.*`` and ``traceloop.*`` attributes."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_rageval.trace.otel.dialect import Dialect, SpanStep, detail_of
from pytest_rageval.trace.otel.genai import MODEL_CALLS, operation_of, read_completion, read_tool
from pytest_rageval.trace.otel.spans import Span
from pytest_rageval.trace.otel.values import decoded, passages_in
from pytest_rageval.trace.steps import RETRIEVE

__all__ = ["TRACELOOP"]

KIND = "traceloop.span.kind"


def _read(span: Span) -> SpanStep | None:
    operation = operation_of(span)
    if operation in MODEL_CALLS:
        return read_completion(span)  # these spans have no traceloop.span.kind
    if operation in ("vector_db_retrieve", "retrieval"):
        return _read_retrieval(span)
    if operation == "execute_tool" or span.attributes.get(KIND) == "tool":
        return read_tool(span)
    return None


def _read_retrieval(span: Span) -> SpanStep:
    query = decoded(span.attributes.get("traceloop.entity.input"))
    output = decoded(span.attributes.get("traceloop.entity.output"))
    has_documents = isinstance(output, Mapping) and isinstance(output.get("documents"), list)
    pairs = (
        ("query", query.get("query") if isinstance(query, Mapping) else query),
        ("retriever", span.attributes.get("traceloop.entity.name")),
        ("passages", passages_in(output["documents"]) if has_documents else None),
    )
    return RETRIEVE, detail_of(span, pairs)


TRACELOOP = Dialect("traceloop", lambda span: KIND in span.attributes, _read)
