"""Samples of other evaluation tools, and tables of questions and answers: one row a question."""

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
from pytest_rageval.datasets.imports.taken import Order, Taken
from pytest_rageval.datasets.jsonl import KEYS
from pytest_rageval.datasets.rgb import content_id
from pytest_rageval.datasets.source import JsonObject
from pytest_rageval.errors import DataError, found

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
        values: what it holds, by the names of its tool; those of a table by ours.
        in_table: whether the values are cells of a table.
        titles: our name of a column -> what is written over it.
    """

    where: str
    name: str
    values: JsonObject
    in_table: bool
    titles: Mapping[str, str] = field(default_factory=dict)


def ragas(order: Order, taken: Taken) -> None:
    """Take RAGAS's samples of one turn, by the names of its newer and of its older versions.

    ``reference`` (``ground_truth``, ``ground_truths``) are the answers, ``response`` (``answer``) is what the system
    said, ``retrieved_contexts`` (``contexts``) its ranking, ``reference_contexts`` are positive passages. Texts without
    ids are named by their content. If a row names their pages, as in ``source``, they are also quotes of its evidence.
    """
    for row in _rows(order, taken):
        _take(row, RAGAS, order, taken)


def deepeval(order: Order, taken: Taken) -> None:
    """Take DeepEval's goldens and test cases of one turn.

    ``expected_output`` is the answer, ``actual_output`` what the system said, ``retrieval_context`` its ranking,
    ``context`` positive passages and, by ``source_file``, quotes of the evidence; in a cell of CSV "|" stands between
    texts, as DeepEval writes them.
    """
    for row in _rows(order, taken):
        _take(row, DEEPEVAL, order, taken)


def table(order: Order, taken: Taken) -> None:
    """Take questions and answers in tables or JSON; several answers in one cell stand in lines, or between " | ".

    Fields are known by the names in `COLUMNS` and by those of our own format; any other field is a facet. Earlier turns
    become ``history`` (see `conversation_of`), references become positive passages, counterfactual ones with that role.
    Where messages end with a question that nobody has answered, it is the question of the row.
    """
    for row in _rows(order, taken):
        ours = _ours(row, taken)
        if ours is not None:
            _take(ours, TABLE, order, taken)


def _rows(order: Order, taken: Taken) -> Iterator[_Row]:
    """Yield each row; its id is its file's name and its number there, unless it says one."""
    for path in order.paths:
        before = taken.rows
        for where, values in read_rows(path, taken):
            yield _Row(where, f"{path.stem}-{taken.rows - before}", values, path.suffix.lower() in TABLES)


def _ours(row: _Row, taken: Taken) -> _Row | None:
    """Return a row with each known column under the first of its names; None if two fields of JSON mean the same.

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
            both = f"{found(titles[name])} and {found(title)} mean the same"
            if row.in_table:
                raise DataError(row.where, f"the columns {both}; rename one")
            taken.leave(row.where, f"the fields {both}; remove one")
            return None
        values[name], titles[name] = value, title
    return replace(row, values=values, titles=titles)


def _take(row: _Row, shape: Shape, order: Order, taken: Taken) -> None:
    said, rest = _picked(row.values, shape)
    own = _own(rest) if shape is TABLE else {}
    own |= _history(row, said, taken)
    for ours in ("question", "answers"):
        if ours not in said and not (ours == "answers" and ("answerable" in said or "slots" in own)):
            names = COLUMNS[ours] if shape is TABLE else shape.names[ours]
            taken.leave(row.where, f"the field {' or '.join(names[:2])} is missing or empty")
            return
    try:
        gold = _gold(row, said, shape, slots=order.slots)
        passages = _references(row, said, shape, taken)
    except DataError as error:
        taken.leave(error.where, error.problem)
        return
    case: JsonObject = {"question": said["question"], **gold, **own}
    case |= {name: said[name] for name in ("language", "topic_1", "topic", "task") if name in said}
    pages = {str(passage["id"]): str(passage.pop("page")) for passage in passages if "page" in passage}
    if passages:
        held = case.get("passages")
        case["passages"] = [*(held if isinstance(held, list) else ()), *passages]
    between = shape.between if row.in_table else None
    ids = listed(said["reference_ids"], between, numbers=True) if "reference_ids" in said else None
    case |= labels_of(case.get("passages"), pages, ids, rest, taken, in_table=row.in_table)
    case |= taken.facets(rest)
    name = said["id"] if "id" in said else _content_id(case, taken) if order.content_ids else row.name
    if taken.case(row.where, {"id": name, **case}):
        _answer(row, name, said, shape, order, taken)


def _gold(row: _Row, said: JsonObject, shape: Shape, *, slots: bool) -> JsonObject:
    """Return the gold answers, the false ones, and whether the question can be answered."""
    several = shape.between_answers if row.in_table else None
    gold: JsonObject = {}
    if "answers" in said:
        gold = gold_of(row.where, _title(row, shape, "answers"), said["answers"], several, slots=slots)
    if "fake_answers" in said:
        title = _title(row, shape, "fake_answers")
        fake = gold_of(row.where, title, said["fake_answers"], several, slots=slots)
        gold["fake_answers"] = next(iter(fake.values()))
    if "answerable" in said:
        gold["answerable"] = _TRUTH.get(str(said["answerable"]).lower(), said["answerable"])
    return gold


def _own(rest: JsonObject) -> JsonObject:
    """Take the fields that our own format knows out of the rest of a row, and return them."""
    values = {name: value_in(rest[name]) for name in KEYS if name in rest}
    own: JsonObject = {name: value for name, value in values.items() if isinstance(value, (list, dict))}
    for name in own:
        del rest[name]
    return own


def _history(row: _Row, said: JsonObject, taken: Taken) -> JsonObject:
    """Return the earlier turns of a row; where it has no question, the last one of its messages becomes that."""
    if "history" not in said:
        return {}
    title = row.titles.get("history", "history")
    conversation = conversation_of(said["history"])
    if conversation is None:
        taken.fields[title] += 1
        return {}
    taken.fields.update({f"{title}.{name}": count for name, count in conversation.left.items()})
    turns, asked = conversation.turns, conversation.asked
    question = said.setdefault("question", asked) if asked else said.get("question")
    if asked and asked != question:
        turns = [*turns, {"question": asked, "answer": ""}]
    elif not asked and turns and turns[-1]["question"] == question:
        taken.fields[f"{title}: an answer to the question of its row"] += 1
        turns = turns[:-1]
    return {"history": turns} if turns else {}


def _references(row: _Row, said: JsonObject, shape: Shape, taken: Taken) -> list[JsonObject]:
    """Return the passages that a row knows as relevant, and those that it knows as counterfactual."""
    between = shape.between if row.in_table else None
    passages: list[JsonObject] = []
    for ours, role in (("reference", "positive"), ("counterfactual", "counterfactual")):
        if said.get(ours) not in EMPTY:
            ids = said.get("reference_ids") if ours == "reference" else None
            of_role = passages_of(Column(row.where, _title(row, shape, ours), between, role), said[ours], ids, taken)
            passages += [{**passage, "role": role} for passage in of_role]
    return taken.ranking(named(passages))


def _content_id(case: JsonObject, taken: Taken) -> str:
    """Return an id of the question with its history and gold; of the whole case where another one has that."""
    asked = {name: case.get(name) for name in ("question", "history", "answers", "slots")}
    name = content_id(json.dumps(asked, ensure_ascii=False, sort_keys=True))
    if taken.is_other(name, {"id": name, **case}):
        name = content_id(json.dumps(case, ensure_ascii=False, sort_keys=True))
    return name


def _answer(row: _Row, name: object, said: JsonObject, shape: Shape, order: Order, taken: Taken) -> None:
    """Take what a system answered."""
    if "response" not in said:
        taken.fields.update(name for name in shape.names.get("retrieved", ()) if row.values.get(name))
        return
    answer: JsonObject = {"id": name, "answer": said["response"]}
    if order.system or "system" in said:
        answer["system"] = order.system or said["system"]
    if "retrieved" in said or "retrieved_ids" in said:
        between = shape.between if row.in_table else None
        column = Column(row.where, _title(row, shape, "retrieved"), between)
        try:
            ranking = passages_of(column, said.get("retrieved"), said.get("retrieved_ids"), taken)
        except DataError as error:
            taken.leave(error.where, f"its answer was left: {error.problem}")
            return
        answer["ranking"] = taken.ranking(ranking)
    taken.answer(row.where, answer)


def _title(row: _Row, shape: Shape, ours: str) -> str:
    """Return the name of a field in its source."""
    names = [name for name in shape.names[ours] if name in row.values]
    return row.titles.get(names[0], names[0]) if names else ours


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
