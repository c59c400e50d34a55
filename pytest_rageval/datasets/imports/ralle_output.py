"""Import RaLLe's ``output.jsonl``: a line per question, with each action of the chain."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rageval.datasets.fields import Fields
from pytest_rageval.datasets.imports.import_result import ImportRequest, ImportResult
from pytest_rageval.datasets.imports.rows import files_of, read_log
from pytest_rageval.datasets.imports.trace_rows import trace_rows
from pytest_rageval.datasets.jsonl import LABELLED
from pytest_rageval.datasets.source import JsonObject
from pytest_rageval.errors import DataError
from pytest_rageval.model.answer import Step
from pytest_rageval.trace.steps import COMPLETION, RETRIEVE

__all__ = ["import_rows"]

ACTION = "an action, an object with prompt, and with provenance or answer"
UNKNOWN_PAGE = "-1"
"""The page id that RaLLe writes if it does not find a page by its title."""


def import_rows(request: ImportRequest, result: ImportResult) -> None:
    """Import RaLLe's ``output.jsonl`` files, or folders with such files.

    A line is a recorded answer with its trace and its ranking. The answer is the output of the last action that is not
    a retriever, or ""; the ranking has the passages of all retrievers. RaLLe's output has no gold answers, but its ids
    are those of the KILT file with the questions, so use the answers with ``kilt:FILE``. The imported cases have
    ``"labelled": false`` and allow only ranking metrics and judged metrics. The format is taken from RaLLe's code,
    because RaLLe publishes no such file.

    Source: RaLLe (Hoshi et al., EMNLP 2023).
    """
    for path in files_of(request.paths, "output.jsonl"):
        for where, values in read_log(path, result):
            _import_row(Fields(where, values), request.system, result)


def _import_row(record: Fields, system: str, result: ImportResult) -> None:
    try:
        _add(record, system, result)
    except DataError as error:
        result.skip(error.where, error.problem)


def _add(record: Fields, system: str, result: ImportResult) -> None:
    if "output" not in record:
        raise record.error("output", f"a list, each {ACTION}")
    name, actions = record.identifier("id"), list(record.objects("output", f"a list, each {ACTION}"))
    ranked = [passage for action in actions for passage in _passages(action)]
    answers = [action.string("answer") for action in actions if "answer" in action]
    trace = list(map(_step, actions))
    if not result.case(record.where, {"id": name, "question": record.text("input"), LABELLED: False}):
        return
    result.drop(record.values, ("id", "input", "output"))
    row: JsonObject = {"id": name, "answer": answers[-1].strip() if answers else ""}
    row |= {"system": system} if system else {}
    row |= {"ranking": result.ranking(ranked)} if any("provenance" in action for action in actions) else {}
    result.answer(record.where, row | {"trace": trace_rows(trace)})


def _passages(action: Fields) -> Iterator[JsonObject]:
    for passage in action.objects("provenance", "a list of passages, each an object with wikipedia_id and doc_id"):
        fields = passage.without_nulls()
        page = fields.identifier("wikipedia_id")
        row: JsonObject = {"id": fields.identifier("doc_id"), "page": "" if page == UNKNOWN_PAGE else page}
        row |= {"title": fields.string("wikipedia_title", ""), "text": fields.string("text", "")}
        yield {key: value for key, value in row.items() if value != ""}


def _step(action: Fields) -> Step:
    """Return an action as a step. An answer equal to its prompt comes from RaLLe's ``Identity``, not from a model."""
    prompt = action.string("prompt")
    if "provenance" in action:
        return Step(RETRIEVE, {"query": prompt, "passages": list(_passages(action))})
    if "answer" not in action:
        raise action.error("answer", "a string, or provenance instead")
    answer = action.string("answer")
    if answer == prompt:
        return Step("identity", {"text": answer})
    return Step(COMPLETION, {"prompt": [{"role": "user", "content": prompt}], "text": answer})
