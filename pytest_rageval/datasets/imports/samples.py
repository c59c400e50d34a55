"""Import samples of RAGAS and DeepEval, and tables with one question per row."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import cast

from pytest_rageval.datasets.imports.cells import list_items, value_in
from pytest_rageval.datasets.imports.conversations import conversation_of
from pytest_rageval.datasets.imports.evidence import evidence_or_qrels
from pytest_rageval.datasets.imports.gold import gold_of
from pytest_rageval.datasets.imports.import_result import ImportRequest, ImportResult
from pytest_rageval.datasets.imports.references import Column, passages_of, with_unique_ids
from pytest_rageval.datasets.imports.rows import TABLES, read_rows
from pytest_rageval.datasets.imports.shapes import COLUMNS, DEEPEVAL, METADATA, RAGAS, TABLE, Shape
from pytest_rageval.datasets.jsonl import KEYS
from pytest_rageval.datasets.rgb import content_id
from pytest_rageval.datasets.source import JsonObject
from pytest_rageval.errors import DataError, short_repr

__all__ = ["deepeval", "ragas", "table"]

_COLUMN = {name: ours for ours, names in COLUMNS.items() for name in names}
EMPTY: tuple[object, ...] = (None, "", [], {})

_TRUTH = {"true": True, "yes": True, "false": False, "no": False}


@dataclass(frozen=True, slots=True)
class _Row:
    """One row of a source.

    Attributes:
        where: ``file:line``.
        name: the default id of the row.
        values: its values by the field names of its tool; for a table, by our names.
        in_table: whether the values are table cells.
        titles: our name of a column -> its name in the table.
    """

    where: str
    name: str
    values: JsonObject
    in_table: bool
    titles: Mapping[str, str] = field(default_factory=dict)


def ragas(request: ImportRequest, result: ImportResult) -> None:
    """Import RAGAS's single-turn samples, with the field names of its newer and older versions.

    ``reference`` (``ground_truth``, ``ground_truths``) is the gold answer, ``response`` (``answer``) the system's
    answer, ``retrieved_contexts`` (``contexts``) its ranking. ``reference_contexts`` become positive passages. Texts
    without ids get ids from their content. If a row names the pages of its positive passages, for example in
    ``source``, they also become quotes of the evidence.
    """
    for row in _rows(request, result):
        _import_row(row, RAGAS, request, result)


def deepeval(request: ImportRequest, result: ImportResult) -> None:
    """Import DeepEval's single-turn goldens and test cases.

    ``expected_output`` is the gold answer, ``actual_output`` the system's answer, ``retrieval_context`` its ranking,
    and ``context`` the positive passages. With ``source_file``, the positive passages also become quotes of the
    evidence. DeepEval separates texts in a CSV cell by "|".
    """
    for row in _rows(request, result):
        _import_row(row, DEEPEVAL, request, result)


def table(request: ImportRequest, result: ImportResult) -> None:
    """Import questions and answers from tables or JSON; line breaks or " | " separate several answers in one cell.

    Fields have the names in `COLUMNS` or those of our own format; any other field becomes a facet. Earlier turns become
    ``history`` (see `conversation_of`), references become positive passages, counterfactual references become
    counterfactual passages. If messages end with a question without an answer, it is the question of the row.
    """
    for row in _rows(request, result):
        renamed_row = _with_our_names(row, result)
        if renamed_row is not None:
            _import_row(renamed_row, TABLE, request, result)


def _rows(request: ImportRequest, result: ImportResult) -> Iterator[_Row]:
    """Yield each row; its default id is the file's name and the row's number in the file."""
    for path in request.paths:
        before = result.rows
        for where, values in read_rows(path, result):
            yield _Row(where, f"{path.stem}-{result.rows - before}", values, path.suffix.lower() in TABLES)


def _with_our_names(row: _Row, result: ImportResult) -> _Row | None:
    """Rename the known columns of a row to our names; return None if two JSON fields mean the same.

    Raises:
        DataError: two table columns mean the same.
    """
    values: JsonObject = {}
    titles: dict[str, str] = {}
    for title, value in row.values.items():
        ours = _COLUMN.get(re.sub(r"[\s_-]+", "_", title.casefold()))
        name = COLUMNS[ours][0] if ours else title
        if name in values and value in EMPTY:
            continue
        if values.get(name) not in EMPTY:
            both = f"{short_repr(titles[name])} and {short_repr(title)} mean the same"
            if row.in_table:
                raise DataError(row.where, f"the columns {both}; rename one")
            result.skip(row.where, f"the fields {both}; remove one")
            return None
        values[name], titles[name] = value, title
    return replace(row, values=values, titles=titles)


def _import_row(row: _Row, shape: Shape, request: ImportRequest, result: ImportResult) -> None:
    known, rest = _pick(row.values, shape)
    extra = _pop_our_fields(rest) if shape is TABLE else {}
    extra |= _history(row, known, result)
    for ours in ("question", "answers"):
        if ours not in known and not (ours == "answers" and ("answerable" in known or "slots" in extra)):
            names = COLUMNS[ours] if shape is TABLE else shape.names[ours]
            result.skip(row.where, f"the field {' or '.join(names[:2])} is missing or empty")
            return
    try:
        gold = _gold(row, known, shape, slots=request.slots)
        passages = _references(row, known, shape, result)
    except DataError as error:
        result.skip(error.where, error.problem)
        return
    case: JsonObject = {"question": known["question"], **gold, **extra}
    case |= {name: known[name] for name in ("language", "topic_1", "topic", "task") if name in known}
    pages = {str(passage["id"]): str(passage.pop("page")) for passage in passages if "page" in passage}
    if passages:
        row_passages = case.get("passages")
        case["passages"] = [*(row_passages if isinstance(row_passages, list) else ()), *passages]
    between = shape.between if row.in_table else None
    ids = list_items(known["reference_ids"], between, numbers=True) if "reference_ids" in known else None
    case |= evidence_or_qrels(case.get("passages"), pages, ids, rest, result, in_table=row.in_table)
    case |= result.facets(rest)
    name = known["id"] if "id" in known else _content_id(case, result) if request.content_ids else row.name
    if result.case(row.where, {"id": name, **case}):
        _answer(row, name, known, shape, request, result)


def _gold(row: _Row, known: JsonObject, shape: Shape, *, slots: bool) -> JsonObject:
    """Return the gold answers, the false answers, and whether the question is answerable."""
    between = shape.between_answers if row.in_table else None
    gold: JsonObject = {}
    if "answers" in known:
        gold = gold_of(row.where, _title(row, shape, "answers"), known["answers"], between, slots=slots)
    if "fake_answers" in known:
        title = _title(row, shape, "fake_answers")
        fake = gold_of(row.where, title, known["fake_answers"], between, slots=slots)
        gold["fake_answers"] = next(iter(fake.values()))
    if "answerable" in known:
        gold["answerable"] = _TRUTH.get(str(known["answerable"]).lower(), known["answerable"])
    return gold


def _pop_our_fields(rest: JsonObject) -> JsonObject:
    """Remove the fields in our own format from the rest of a row and return them."""
    values = {name: value_in(rest[name]) for name in KEYS if name in rest}
    fields: JsonObject = {name: value for name, value in values.items() if isinstance(value, (list, dict))}
    for name in fields:
        del rest[name]
    return fields


def _history(row: _Row, known: JsonObject, result: ImportResult) -> JsonObject:
    """Return the earlier turns of a row; a row without a question gets the last question of its messages."""
    if "history" not in known:
        return {}
    title = row.titles.get("history", "history")
    conversation = conversation_of(known["history"])
    if conversation is None:
        result.fields[title] += 1
        return {}
    result.fields.update({f"{title}.{name}": count for name, count in conversation.skipped.items()})
    turns, last_question = conversation.turns, conversation.open_question
    question = known.setdefault("question", last_question) if last_question else known.get("question")
    if last_question and last_question != question:
        turns = [*turns, {"question": last_question, "answer": ""}]
    elif not last_question and turns and turns[-1]["question"] == question:
        result.fields[f"{title}: an answer to the question of its row"] += 1
        turns = turns[:-1]
    return {"history": turns} if turns else {}


def _references(row: _Row, known: JsonObject, shape: Shape, result: ImportResult) -> list[JsonObject]:
    """Return the positive and counterfactual passages of a row."""
    between = shape.between if row.in_table else None
    passages: list[JsonObject] = []
    for ours, role in (("reference", "positive"), ("counterfactual", "counterfactual")):
        if known.get(ours) not in EMPTY:
            ids = known.get("reference_ids") if ours == "reference" else None
            role_passages = passages_of(
                Column(row.where, _title(row, shape, ours), between, role), known[ours], ids, result
            )
            passages += [{**passage, "role": role} for passage in role_passages]
    return result.ranking(with_unique_ids(passages))


def _content_id(case: JsonObject, result: ImportResult) -> str:
    """Return an id from question, history and gold answer; if another case has it, an id from the whole case."""
    identity = {name: case.get(name) for name in ("question", "history", "answers", "slots")}
    name = content_id(json.dumps(identity, ensure_ascii=False, sort_keys=True))
    if result.is_other_case(name, {"id": name, **case}):
        name = content_id(json.dumps(case, ensure_ascii=False, sort_keys=True))
    return name


def _answer(
    row: _Row, name: object, known: JsonObject, shape: Shape, request: ImportRequest, result: ImportResult
) -> None:
    """Import the system's answer of a row."""
    if "response" not in known:
        result.fields.update(name for name in shape.names.get("retrieved", ()) if row.values.get(name))
        return
    answer: JsonObject = {"id": name, "answer": known["response"]}
    if request.system or "system" in known:
        answer["system"] = request.system or known["system"]
    if "retrieved" in known or "retrieved_ids" in known:
        between = shape.between if row.in_table else None
        column = Column(row.where, _title(row, shape, "retrieved"), between)
        try:
            ranking = passages_of(column, known.get("retrieved"), known.get("retrieved_ids"), result)
        except DataError as error:
            result.skip(error.where, f"answer skipped: {error.problem}")
            return
        answer["ranking"] = result.ranking(ranking)
    result.answer(row.where, answer)


def _title(row: _Row, shape: Shape, ours: str) -> str:
    """Return the name of a field in the source."""
    names = [name for name in shape.names[ours] if name in row.values]
    return row.titles.get(names[0], names[0]) if names else ours


def _pick(values: JsonObject, shape: Shape) -> tuple[JsonObject, JsonObject]:
    """Return the values of known fields by our names, and the remaining fields."""
    rest = {name: value for name, value in values.items() if value is not None}
    known = {}
    for ours, theirs in shape.names.items():
        name = next((name for name in theirs if name in rest), None)
        if name is not None:
            known[ours] = rest.pop(name)
    for name in METADATA:
        if isinstance(rest.get(name), dict):
            rest = {**cast("JsonObject", rest.pop(name)), **rest}
    return known, rest
