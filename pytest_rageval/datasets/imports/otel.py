"""Import the traces of a running system as cases and recorded answers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from pytest_rageval.datasets.imports.import_result import ImportRequest, ImportResult
from pytest_rageval.datasets.imports.rows import files_of
from pytest_rageval.datasets.jsonl import LABELLED
from pytest_rageval.datasets.source import JsonObject, read_records, read_text, shown_path
from pytest_rageval.errors import short_repr
from pytest_rageval.trace.otel.convert import AnswerTrace, convert, nesting, step_spans
from pytest_rageval.trace.otel.evaluations import failed_evaluations
from pytest_rageval.trace.otel.exchange import Exchange, exchange_of
from pytest_rageval.trace.otel.spans import Span, span_json, spans_in

__all__ = ["import_rows"]


def import_rows(request: ImportRequest, result: ImportResult) -> None:
    """Import traces: OTLP/JSON, spans of OpenTelemetry's SDK, or exports of the OpenAI Agents SDK.

    A file contains one JSON value, or JSON Lines like those of OpenTelemetry's collector. Of a folder, all ``.json``
    and ``.jsonl`` files are read. Each trace becomes a case (question, earlier turns, retrieved passages) and a
    recorded answer (text, ranking, usage, spans). The id is the trace's id, or the value of the attribute that
    ``--id-attribute`` names. The facets ``trace_id`` and ``span_id`` lead back to the trace.

    The answer is also the gold answer, and a person has to check it. A failed trace becomes a case without a gold
    answer (``labelled`` is false). A trace failed if one of its spans failed, or if one of its evaluations
    (``gen_ai.evaluation.result``) has the label "fail".
    """
    traces: dict[str, list[Span]] = {}
    places: dict[str, str] = {}
    failed: set[str] = set()
    for path in files_of(request.paths, "*.json*"):
        for where, value in _values(path):
            failed |= failed_evaluations(value)
            for span in spans_in(value):
                traces.setdefault(span.trace_id, []).append(span)
                places.setdefault(span.trace_id, where)
    unchecked = without_steps = 0
    for name, spans in traces.items():
        is_failed = name in failed or any(span.error is not None for span in spans)
        if not step_spans(spans):
            without_steps += 1
            continue
        if request.failed and not is_failed:
            continue
        result.rows += 1
        unchecked += _import_trace(places[name], spans, request, result, is_failed=is_failed)
    if unchecked:
        result.notes.append(f"{unchecked} cases have the answer of their trace as gold answer; check these answers")
    if without_steps:
        problem = f"{without_steps} traces contain no call of a model, a tool or a search"
        result.notes.append(f"{problem}; they are not imported")
    without_gold = sum(LABELLED in case for case in result.cases)
    if without_gold:
        advice = "write it into answers and remove labelled"
        result.notes.append(f"{without_gold} cases of failed or unanswered traces have no gold answer yet; {advice}")


def _values(path: Path) -> Iterator[tuple[str, object]]:
    """Yield ``file:line`` and the JSON values of a file: one value, or one a line."""
    name, text = shown_path(path), read_text(path)
    try:
        yield f"{name}:1", json.loads(text)
    except (ValueError, RecursionError):
        yield from ((f"{name}:{line}", record) for line, record in read_records(path))


def _import_trace(
    where: str, spans: Sequence[Span], request: ImportRequest, result: ImportResult, *, is_failed: bool
) -> bool:
    """Import one trace; return whether its answer became a gold answer that a person has to check."""
    depth = nesting(spans)
    root = min(spans, key=lambda span: (depth[span.span_id], span.start))
    name = _id_of(spans, request.id_attribute) if request.id_attribute else root.trace_id
    if name is None:
        result.skip(where, f"trace {root.trace_id}: no span has the attribute {short_repr(request.id_attribute)}")
        return False
    exchange, converted = exchange_of(spans), convert(spans)
    if not exchange.question:
        result.skip(where, f"trace {root.trace_id}: no question was recorded; turn on the capture of contents")
        return False
    is_gold = bool(exchange.answer and exchange.answer.strip()) and not is_failed
    gold: JsonObject = {"answers": [exchange.answer]} if is_gold else {LABELLED: False}
    case: JsonObject = {"id": name, "question": exchange.question, **gold}
    case |= _context(exchange, converted)
    case |= {"trace_id": root.trace_id, "span_id": root.span_id}
    if result.case(where, case) and exchange.answer is not None:
        result.answer(where, _answer(name, exchange.answer, spans, converted, request.system))
    return is_gold


def _id_of(spans: Sequence[Span], attribute: str) -> str | None:
    """Return the first value of an attribute in a trace; None if no span has it."""
    values = (span.attributes.get(attribute) for span in sorted(spans, key=lambda span: span.start))
    return next((str(value) for value in values if value not in (None, "")), None)


def _context(exchange: Exchange, converted: AnswerTrace) -> JsonObject:
    """Return the fields ``history`` and ``passages`` of a case, if the trace has them."""
    fields: JsonObject = {}
    if exchange.history:
        fields["history"] = [{"question": question, "answer": answer} for question, answer in exchange.history]
    passages = [item for item in converted.ranking or () if item.text.strip()]
    if passages:
        fields["passages"] = [_not_blank(id=item.doc_id, text=item.text, title=item.title) for item in passages]
    return fields


def _answer(name: str, text: str, spans: Sequence[Span], converted: AnswerTrace, system: str) -> JsonObject:
    answer = _not_blank(id=name, answer=text, system=system) | {"answer": text}
    if converted.ranking is not None:
        keys = ("doc_id", "score", "text", "title", "page")
        answer["ranking"] = [_not_blank(**{key: getattr(item, key) for key in keys}) for item in converted.ranking]
    usage = converted.usage
    if usage is not None:
        amounts = ("prompt_tokens", "completion_tokens", "latency_s")
        answer["usage"] = _not_blank(**{key: getattr(usage, key) for key in amounts})
    steps = [span_json(span) for span in step_spans(spans)]
    return answer | {"spans": steps}


def _not_blank(**values: Any) -> JsonObject:
    return {key: value for key, value in cast("Mapping[str, Any]", values).items() if value not in (None, "")}
