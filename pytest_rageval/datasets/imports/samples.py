"""Samples of other evaluation tools, and tables of questions and answers: one row a question."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

from pytest_rageval.datasets.imports.cells import listed
from pytest_rageval.datasets.imports.evidence import labels_of
from pytest_rageval.datasets.imports.rows import TABLES, read_rows
from pytest_rageval.datasets.imports.shapes import COLUMNS, DEEPEVAL, METADATA, RAGAS, TABLE, Shape
from pytest_rageval.datasets.imports.taken import Order, Taken
from pytest_rageval.datasets.rgb import content_id
from pytest_rageval.datasets.source import JsonObject
from pytest_rageval.errors import DataError, found

__all__ = ["deepeval", "ragas", "table"]

_COLUMN = {name: ours for ours, names in COLUMNS.items() for name in names}
_TRUTH = {"true": True, "yes": True, "false": False, "no": False}


@dataclass(frozen=True, slots=True)
class _Row:
    """One row: where it stands, an id for it, its values, and whether these are cells of a table."""

    where: str
    name: str
    values: JsonObject
    in_table: bool


def ragas(order: Order, taken: Taken) -> None:
    """Take RAGAS's samples of one turn, by the names of its newer and of its older versions.

    ``reference`` (``ground_truth``, ``ground_truths``) are the answers, ``response`` (``answer``) is what the system
    said, ``retrieved_contexts`` (``contexts``) its ranking, ``reference_contexts`` are positive passages. Texts without
    ids are named by their content. If a row names their pages, as in ``source``, they are also quotes of its evidence.
    """
    for row in _rows(order, taken):
        _take(row, RAGAS, order.system, taken)


def deepeval(order: Order, taken: Taken) -> None:
    """Take DeepEval's goldens and test cases of one turn.

    ``expected_output`` is the answer, ``actual_output`` what the system said, ``retrieval_context`` its ranking,
    ``context`` positive passages and, by ``source_file``, quotes of the evidence; in a cell of CSV "|" stands between
    texts, as DeepEval writes them.
    """
    for row in _rows(order, taken):
        _take(row, DEEPEVAL, order.system, taken)


def table(order: Order, taken: Taken) -> None:
    """Take tables of questions and answers; several answers in one cell stand in lines, or between " | ".

    Columns are known by the names in `COLUMNS`; any other column is a facet.
    """
    for row in _rows(order, taken):
        _take(replace(row, values=_ours(row)), TABLE, order.system, taken)


def _rows(order: Order, taken: Taken) -> Iterator[_Row]:
    """Yield each row; its id is its file's name and its number there, unless it says one."""
    for path in order.paths:
        before = taken.rows
        for where, values in read_rows(path, taken):
            yield _Row(where, f"{path.stem}-{taken.rows - before}", values, path.suffix.lower() in TABLES)


def _ours(row: _Row) -> JsonObject:
    """Return the values of a table's row, each known column under the first of its names."""
    values: JsonObject = {}
    titles: dict[str, str] = {}
    for title, value in row.values.items():
        ours = _COLUMN.get(re.sub(r"[\s_-]+", "_", title.casefold()))
        name = COLUMNS[ours][0] if ours else title
        if name in values:
            problem = f"the columns {found(titles[name])} and {found(title)} mean the same; rename one"
            raise DataError(row.where, problem)
        values[name], titles[name] = value, title
    return values


def _take(row: _Row, shape: Shape, system: str, taken: Taken) -> None:
    said, rest = _picked(row.values, shape)
    for ours in ("question", "answers"):
        if ours not in said and not (ours == "answers" and "answerable" in said):
            names = COLUMNS[ours] if shape is TABLE else shape.names[ours]
            taken.leave(row.where, f"the field {' or '.join(names[:2])} is missing or empty")
            return
    several = shape.between_answers if row.in_table else None
    case: JsonObject = {"id": said.get("id", row.name), "question": said["question"]}
    case |= {name: listed(said[name], several) for name in ("answers", "fake_answers") if name in said}
    if "answerable" in said:
        case["answerable"] = _TRUTH.get(str(said["answerable"]).lower(), said["answerable"])
    case |= {name: said[name] for name in ("language", "topic_1", "topic", "task") if name in said}
    between = shape.between if row.in_table else None
    if "reference" in said:
        reference = taken.ranking(_passages(said["reference"], said.get("reference_ids"), between))
        case["passages"] = [{**passage, "role": "positive"} for passage in reference]
    ids = listed(said["reference_ids"], between, numbers=True) if "reference_ids" in said else None
    case |= labels_of(case.get("passages"), ids, rest, in_table=row.in_table)
    case |= taken.facets(rest)
    if not taken.case(row.where, case):
        return
    if "response" not in said:
        taken.fields.update(name for name in shape.names.get("retrieved", ()) if row.values.get(name))
        return
    answer: JsonObject = {"id": case["id"], "answer": said["response"]}
    if system or "system" in said:
        answer["system"] = system or said["system"]
    if "retrieved" in said or "retrieved_ids" in said:
        answer["ranking"] = taken.ranking(_passages(said.get("retrieved"), said.get("retrieved_ids"), between))
    taken.answer(row.where, answer)


def _picked(values: JsonObject, shape: Shape) -> tuple[JsonObject, JsonObject]:
    """Return what a row says, by our names, and the rest of it."""
    rest = {name: value for name, value in values.items() if value is not None}
    said = {}
    for ours, theirs in shape.names.items():
        name = next((name for name in theirs if name in rest), None)
        if name is not None:
            said[ours] = rest.pop(name)
    for name in METADATA:
        if isinstance(rest.get(name), dict):
            rest = {**cast("JsonObject", rest.pop(name)), **rest}
    return said, rest


def _passages(texts: object, ids: object, between: str | None) -> list[JsonObject]:
    """Return passages, named by their ids where there are as many, else by their content."""
    contents, names = listed(texts, between), listed(ids, between, numbers=True)
    if not contents:
        return [{"id": name} for name in names]
    if len(names) != len(contents):
        names = [content_id(str(text)) for text in contents]
    return [{"id": name, "text": text} for name, text in zip(names, contents, strict=True)]
