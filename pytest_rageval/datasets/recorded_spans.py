"""Read the ``spans`` of a recorded answer: its trace, ranking and usage."""

from __future__ import annotations

from dataclasses import replace

from pytest_rageval.datasets.fields import Fields
from pytest_rageval.errors import DataError
from pytest_rageval.model.answer import Answer

__all__ = ["with_spans"]

WANTED = "spans in OTLP/JSON, in the to_json format of OpenTelemetry's SDK, or in the export of the OpenAI Agents SDK"


def with_spans(record: Fields, answer: Answer) -> Answer:
    """Add trace, ranking and usage from the spans to a recorded answer; values in the record have priority.

    Raises:
        DataError: ``spans`` contains no span.
    """
    if "spans" not in record:
        return answer
    from pytest_rageval.trace.otel.convert import convert
    from pytest_rageval.trace.otel.spans import spans_in

    value = record.values["spans"]
    if not isinstance(value, (list, dict)):
        raise record.wrong("spans", value, WANTED)
    spans = spans_in(value)
    if not spans and value:
        raise DataError(record.where, f"{record.prefix}spans: found no span, wanted {WANTED}", code="RAG202")
    converted = convert(spans)
    return replace(
        answer,
        trace=answer.trace or converted.steps,
        ranking=converted.ranking if answer.ranking is None else answer.ranking,
        usage=answer.usage or converted.usage,
    )
