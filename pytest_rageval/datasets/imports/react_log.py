"""Import transcripts of ReAct, one run a line."""

from __future__ import annotations

from pytest_rageval.datasets.fields import Fields
from pytest_rageval.datasets.imports.rows import files_of, read_log
from pytest_rageval.datasets.imports.taken import ImportResult, Order
from pytest_rageval.datasets.imports.traces import trace_rows
from pytest_rageval.datasets.source import JsonObject
from pytest_rageval.datasets.transcripts import transcript_in
from pytest_rageval.errors import DataError

__all__ = ["take"]

KEYS = ("answer", "gold", "id", "question", "steps", "system", "transcript")


def take(order: Order, result: ImportResult) -> None:
    """Import runs of ReAct: lines with ``id``, ``question``, ``gold``, ``answer`` and ``transcript``.

    A line is a case and a recorded answer with its trace. An empty ``answer`` means that the step limit ended the run.
    ``steps`` is counted anew. Other fields are facets.

    Source: ReAct (Yao et al., ICLR 2023).
    """
    for path in files_of(order.paths, "*.jsonl"):
        for where, values in read_log(path, result):
            _take(Fields(where, values), order.system, result)


def _take(record: Fields, system: str, result: ImportResult) -> None:
    try:
        _add(record, system, result)
    except DataError as error:
        result.leave(error.where, error.problem)


def _add(record: Fields, system: str, result: ImportResult) -> None:
    name, answer = record.identifier("id"), record.string("answer")
    transcript = transcript_in(record, "transcript")
    case: JsonObject = {"id": name, "question": record.text("question"), "answers": record.values.get("gold")}
    if not result.case(record.where, case | result.facets(record.values, KEYS)):
        return
    result.fields.update(key for key in ("steps",) if key in record)
    result.needless.add("steps")
    system = system or record.string("system", "")
    row: JsonObject = {"id": name, "answer": answer, **({"system": system} if system else {}), "workflow": "react"}
    result.answer(record.where, row | {"trace": trace_rows(transcript.trace(answer))})
