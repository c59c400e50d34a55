"""Import ReAct transcripts: one run per line."""

from __future__ import annotations

from pytest_rageval.datasets.fields import Fields
from pytest_rageval.datasets.imports.import_result import ImportRequest, ImportResult
from pytest_rageval.datasets.imports.rows import files_of, read_log
from pytest_rageval.datasets.imports.trace_rows import trace_rows
from pytest_rageval.datasets.source import JsonObject
from pytest_rageval.datasets.transcripts import transcript_in
from pytest_rageval.errors import DataError

__all__ = ["import_rows"]

KEYS = ("answer", "gold", "id", "question", "steps", "system", "transcript")


def import_rows(request: ImportRequest, result: ImportResult) -> None:
    """Import runs of ReAct: lines with ``id``, ``question``, ``gold``, ``answer`` and ``transcript``.

    A line is a case and a recorded answer with its trace. An empty ``answer`` means that the step limit ended the run.
    ``steps`` is ignored, because the steps are counted in the trace. Other fields become facets.

    Source: ReAct (Yao et al., ICLR 2023).
    """
    for path in files_of(request.paths, "*.jsonl"):
        for where, values in read_log(path, result):
            _import_row(Fields(where, values), request.system, result)


def _import_row(record: Fields, system: str, result: ImportResult) -> None:
    try:
        _add(record, system, result)
    except DataError as error:
        result.skip(error.where, error.problem)


def _add(record: Fields, system: str, result: ImportResult) -> None:
    name, answer = record.identifier("id"), record.string("answer")
    transcript = transcript_in(record, "transcript")
    case: JsonObject = {"id": name, "question": record.text("question"), "answers": record.values.get("gold")}
    if not result.case(record.where, case | result.facets(record.values, KEYS)):
        return
    result.fields.update(key for key in ("steps",) if key in record)
    result.unneeded.add("steps")
    system = system or record.string("system", "")
    row: JsonObject = {"id": name, "answer": answer, **({"system": system} if system else {}), "workflow": "react"}
    result.answer(record.where, row | {"trace": trace_rows(transcript.trace(answer))})
