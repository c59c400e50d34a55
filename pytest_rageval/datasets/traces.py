"""Read the trace of a recorded answer from the keys ``trace`` or ``scratchpad``."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pytest_rageval.datasets.fields import Fields
from pytest_rageval.datasets.transcripts import scratchpad_steps
from pytest_rageval.errors import DataError
from pytest_rageval.model.answer import Step
from pytest_rageval.trace.steps import END, END_REASONS, TOOL

__all__ = ["TRACES", "trace_in"]

WANTED = "a list of objects with kind and detail"


def trace_in(record: Fields) -> tuple[Step, ...]:
    """Return the steps in a record's key of `TRACES`; empty if it has no such key."""
    keys = [key for key in TRACES if key in record]
    if len(keys) > 1:
        raise DataError(record.where, f"found both {keys[0]} and {keys[1]}, wanted one of them")
    return TRACES[keys[0]](record) if keys else ()


def _trace_steps(record: Fields) -> tuple[Step, ...]:
    """Return the steps in the key ``trace``, which have the format of results.json."""
    if not isinstance(record.values["trace"], list):
        raise record.wrong("trace", record.values["trace"], WANTED)
    return tuple(_step(fields) for fields in record.objects("trace", WANTED))


def _step(fields: Fields) -> Step:
    fields.only(("detail", "kind"))
    kind, detail = fields.text("kind"), fields.values.get("detail", {})
    inner = fields.inner("detail", detail, "an object")
    if kind == TOOL:
        inner.text("name")
    if kind == END and inner.text("reason") not in END_REASONS:
        raise inner.wrong("reason", inner.values["reason"], f"one of {', '.join(END_REASONS)}")
    return Step(kind, dict(inner.values))


TRACES: Mapping[str, Callable[[Fields], tuple[Step, ...]]] = {
    "trace": _trace_steps,
    "scratchpad": scratchpad_steps,
}
"""Key of a recorded answer -> function that reads the steps from the record."""
