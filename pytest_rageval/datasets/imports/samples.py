"""Import samples of other evaluation tools, and tables with one question per row."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import cast

from pytest_rageval.datasets.imports.cells import listed, value_in
from pytest_rageval.datasets.imports.conversations import conversation_of
from pytest_rageval.datasets.imports.evidence import labels_of
from pytest_rageval.datasets.imports.gold import gold_of
from pytest_rageval.datasets.imports.references import Column, named, passages_of
from pytest_rageval.datasets.imports.rows import TABLES, read_rows
from pytest_rageval.datasets.imports.shapes import COLUMNS, DEEPEVAL, METADATA, RAGAS, TABLE, Shape
from pytest_rageval.datasets.imports.taken import ImportResult, Order
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
        name: an id for it.
        values: its values by the names of its tool; for a table, by our names.
        in_table: whether the values are cells of a table.
        titles: our name of a column -> its name in the table.
    """

    where: str
    name: str
    values: JsonObject
    in_table: bool
    titles: Mapping[str, str] = field(default_factory=dict)


def ragas(order: Order, result: ImportResult) -> None:
    """Import RAGAS's single-turn samples, with the field names of its newer and older versions.

    ``reference`` (``ground_truth``, ``ground_truths``) are the answers, ``response`` (``answer``) is the system's
    answer, ``retrieved_contexts`` (``contexts``) its ranking, ``reference_contexts`` are positive passages. Texts
    without ids get ids from their content. If a row names their pages, as in ``source``, they are also quotes of its
    evidence.
    """
    for row in _rows(order, result):
        _take(row, RAGAS, order, result)


def deepeval(order: Order, result: ImportResult) -> None:
    """Import DeepEval's single-turn goldens and test cases.

    ``expected_output`` is the gold answer, ``actual_output`` the system's answer, ``retrieval_context`` its ranking,
    and ``context`` the positive passages. With ``source_file``, these are also quotes of the evidence. DeepEval writes
    "|" between the texts in a cell of CSV.
    """
    for row in _rows(order, result):
        _take(row, DEEPEVAL, order, result)


def table(order: Order, result: ImportResult) -> None:
    """Import questions and answers in tables or JSON; line breaks or " | " separate several answers in one cell.

    Fields have the names in `COLUMNS` or those of our own format; any other field is a facet. Earlier turns become
    ``history`` (see `conversation_of`), references become positive passages, counterfactual ones have that role.
    If messages end with a question without an answer, it is the question of the row.
    """
    for row in _rows(order, result):
        ours = _ours(row, result)
        if ours is not None:
            _take(ours, TABLE, order, result)


def _rows(order: Order, result: ImportResult) -> Iterator[_Row]:
    """Yield each row; its default id is its file's name and its number there."""
    for path in order.paths:
        before = result.rows
        for where, values in read_rows(path, result):
            yield _Row(where, f"{path.stem}-{result.rows - before}", values, path.suffix.lower() in TABLES)


def _ours(row: _Row, result: ImportResult) -> _Row | None:
    """Return a row with our name for each known column; None if two fields of JSON mean the same.

    Raises:
        DataError: two columns of a table mean the same.
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
            result.leave(row.where, f"the fields {both}; remove one")
            return None
        values[name], titles[name] = value, title
    return replace(row, values=values, titles=titles)


def _take(row: _Row, shape: Shape, order: Order, result: ImportResult) -> None:
    known, rest = _pick(row.values, shape)
    own = _own(rest) if shape is TABLE else {}
    own |= _history(row, known, result)
    for ours in ("question", "answers"):
        if ours not in known and not (ours == "answers" and ("answerable" in known or "slots" in own)):
            names = COLUMNS[ours] if shape is TABLE else shape.names[ours]
            result.leave(row.where, f"the field {' or '.join(names[:2])} is missing or empty")
            return
    try:
        gold = _gold(row, known, shape, slots=order.slots)
        passages = _references(row, known, shape, result)
    except DataError as error:
        result.leave(error.where, error.problem)
        return
    case: JsonObject = {"question": known["question"], **gold, **own}
    case |= {name: known[name] for name in ("language", "topic_1", "topic", "task") if name in known}
    pages = {str(passage["id"]): str(passage.pop("page")) for passage in passages if "page" in passage}
    if passages:
        held = case.get("passages")
        case["passages"] = [*(held if isinstance(held, list) else ()), *passages]
    between = shape.between if row.in_table else None
    ids = listed(known["reference_ids"], between, numbers=True) if "reference_ids" in known else None
    case |= labels_of(case.get("passages"), pages, ids, rest, result, in_table=row.in_table)
    case |= result.facets(rest)
    name = known["id"] if "id" in known else _content_id(case, result) if order.content_ids else row.name
    if result.case(row.where, {"id": name, **case}):
        _answer(row, name, known, shape, order, result)


def _gold(row: _Row, known: JsonObject, shape: Shape, *, slots: bool) -> JsonObject:
    """Return the gold answers, the false ones, and whether the question is answerable."""
    several = shape.between_answers if row.in_table else None
    gold: JsonObject = {}
    if "answers" in known:
        gold = gold_of(row.where, _title(row, shape, "answers"), known["answers"], several, slots=slots)
    if "fake_answers" in known:
        title = _title(row, shape, "fake_answers")
        fake = gold_of(row.where, title, known["fake_answers"], several, slots=slots)
        gold["fake_answers"] = next(iter(fake.values()))
    if "answerable" in known:
        gold["answerable"] = _TRUTH.get(str(known["answerable"]).lower(), known["answerable"])
    return gold


def _own(rest: JsonObject) -> JsonObject:
    """Remove the fields of our own format from the rest of a row, and return them."""
    values = {name: value_in(rest[name]) for name in KEYS if name in rest}
    own: JsonObject = {name: value for name, value in values.items() if isinstance(value, (list, dict))}
    for name in own:
        del rest[name]
    return own


def _history(row: _Row, known: JsonObject, result: ImportResult) -> JsonObject:
    """Return the earlier turns of a row; if it has no question, the last one of its messages becomes its question."""
    if "history" not in known:
        return {}
    title = row.titles.get("history", "history")
    conversation = conversation_of(known["history"])
    if conversation is None:
        result.fields[title] += 1
        return {}
    result.fields.update({f"{title}.{name}": count for name, count in conversation.left.items()})
    turns, last_question = conversation.turns, conversation.asked
    question = known.setdefault("question", last_question) if last_question else known.get("question")
    if last_question and last_question != question:
        turns = [*turns, {"question": last_question, "answer": ""}]
    elif not last_question and turns and turns[-1]["question"] == question:
        result.fields[f"{title}: an answer to the question of its row"] += 1
        turns = turns[:-1]
    return {"history": turns} if turns else {}


def _references(row: _Row, known: JsonObject, shape: Shape, result: ImportResult) -> list[JsonObject]:
    """Return the positive and the counterfactual passages of a row."""
    between = shape.between if row.in_table else None
    passages: list[JsonObject] = []
    for ours, role in (("reference", "positive"), ("counterfactual", "counterfactual")):
        if known.get(ours) not in EMPTY:
            ids = known.get("reference_ids") if ours == "reference" else None
            of_role = passages_of(Column(row.where, _title(row, shape, ours), between, role), known[ours], ids, result)
            passages += [{**passage, "role": role} for passage in of_role]
    return result.ranking(named(passages))


def _content_id(case: JsonObject, result: ImportResult) -> str:
    """Return an id from the question with its history and gold; from the whole case if another case has that id."""
    identity = {name: case.get(name) for name in ("question", "history", "answers", "slots")}
    name = content_id(json.dumps(identity, ensure_ascii=False, sort_keys=True))
    if result.is_other(name, {"id": name, **case}):
        name = content_id(json.dumps(case, ensure_ascii=False, sort_keys=True))
    return name


def _answer(row: _Row, name: object, known: JsonObject, shape: Shape, order: Order, result: ImportResult) -> None:
    """Import the system's answer of a row."""
    if "response" not in known:
        result.fields.update(name for name in shape.names.get("retrieved", ()) if row.values.get(name))
        return
    answer: JsonObject = {"id": name, "answer": known["response"]}
    if order.system or "system" in known:
        answer["system"] = order.system or known["system"]
    if "retrieved" in known or "retrieved_ids" in known:
        between = shape.between if row.in_table else None
        column = Column(row.where, _title(row, shape, "retrieved"), between)
        try:
            ranking = passages_of(column, known.get("retrieved"), known.get("retrieved_ids"), result)
        except DataError as error:
            result.leave(error.where, f"its answer was left: {error.problem}")
            return
        answer["ranking"] = result.ranking(ranking)
    result.answer(row.where, answer)


def _title(row: _Row, shape: Shape, ours: str) -> str:
    """Return a field's name in its source."""
    names = [name for name in shape.names[ours] if name in row.values]
    return row.titles.get(names[0], names[0]) if names else ours


def _pick(values: JsonObject, shape: Shape) -> tuple[JsonObject, JsonObject]:
    """Return the known values of a row by our names, and the rest of it."""
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
