"""Read the trace of a recorded answer: its steps, or a ReAct transcript."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rageval.datasets.fields import Fields
from pytest_rageval.errors import DataError
from pytest_rageval.model.answer import Step
from pytest_rageval.trace.scratchpad import read_transcript

__all__ = ["trace_in"]


def trace_in(record: Fields) -> tuple[Step, ...]:
    """Return the steps of a record's ``trace``, or those that its ``scratchpad`` tells; none if it has neither.

    Raises:
        DataError: the record has both, or one of another form.
    """
    if "trace" in record and "scratchpad" in record:
        raise DataError(record.where, "found both trace and scratchpad, wanted one of them", code="RAG202")
    if "scratchpad" in record:
        return _transcript(record)
    return tuple(_steps(record))


def _transcript(record: Fields) -> tuple[Step, ...]:
    text = record.string("scratchpad")
    transcript = read_transcript(text)
    if text.strip() and not transcript.is_labelled:
        raise record.error("scratchpad", "a transcript with lines Thought 1:, Action 1: and Observation 1:")
    return transcript.trace(record.string("answer"))


def _steps(record: Fields) -> Iterator[Step]:
    for fields in record.objects("trace", "a list of steps, each an object with kind and detail"):
        fields.only(("detail", "kind"))
        detail = fields.values.get("detail", {})
        yield Step(fields.text("kind"), fields.inner("detail", detail, "an object").values)
