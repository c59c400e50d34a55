"""Convert the passages of imported rows: texts, or objects in other tools' formats."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_rageval.datasets.imports.cells import list_items, plain, value_in
from pytest_rageval.datasets.imports.evidence import page_field
from pytest_rageval.datasets.imports.import_result import ImportResult
from pytest_rageval.datasets.rgb import content_id
from pytest_rageval.datasets.source import JsonObject, json_kind
from pytest_rageval.errors import DataError

__all__ = ["Column", "passages_of", "with_unique_ids"]

IDS = ("id", "_id", "doc_id", "docid", "passage_id", "chunk_id")
TEXTS = ("text", "contents", "content", "passage", "page_content", "body")

_HOP = re.compile(r"^<\d+-hop>\s*")
"""RAGAS's mark before the contexts of a multi-hop question; documents do not contain it."""


@dataclass(frozen=True, slots=True)
class Column:
    """A field of a row with passages.

    Attributes:
        where: ``file:line`` of the row.
        name: the field's name in the row.
        between: see `list_items`.
        role: ``positive`` or ``counterfactual``; "" for a ranking, whose passages may have only an id.
    """

    where: str
    name: str
    between: str | None
    role: str = ""


def passages_of(column: Column, value: object, ids: object, result: ImportResult) -> list[JsonObject]:
    """Return the passages in a field, with ids.

    The id of a passage is the id in its object, else the item of ``ids`` at its position if the counts match, else an
    id from its content. A passage that names its page (see `page_field`) has it under ``page``, unless it is
    counterfactual. Fields of an object except id, text, title and page are counted as skipped.

    Args:
        column: the field.
        value: a text or an object, or a list of them.
        ids: the ids of the passages, or None.
        result: counts skipped fields.

    Raises:
        DataError: an item has no text.
    """
    parsed_value = value_in(value)
    items = [parsed_value] if isinstance(parsed_value, dict) else parsed_value
    if isinstance(items, list) and any(map(_has_text, items)):
        passages = [_passage(item, column, result) for item in items]
    else:
        items = list_items(value, column.between)
        passages = [{"text": text} for text in items]
    names = list_items(ids, column.between, numbers=True)
    if not passages:
        return [{"id": each} for each in names]
    _check_texts(column, items, passages)
    passages = [{**each, "text": _HOP.sub("", str(each["text"]))} if "text" in each else each for each in passages]
    if len(names) == len(passages):
        passages = [{"id": each, **passage} for each, passage in zip(names, passages, strict=True)]
    return with_unique_ids(passages)


def _check_texts(column: Column, items: Sequence[object], passages: Sequence[JsonObject]) -> None:
    for at, (item, passage) in enumerate(zip(items, passages, strict=True)):
        text = passage.get("text")
        if isinstance(text, str) and (_HOP.sub("", text).strip() or not column.role):
            continue
        if column.role or "text" in passage or "id" not in passage:
            wanted = f"a text, or an object with one under {', '.join(TEXTS[:-1])} or {TEXTS[-1]}"
            raise DataError(column.where, f"{column.name}[{at}]: found {json_kind(item)}, wanted {wanted}")


def with_unique_ids(passages: list[JsonObject]) -> list[JsonObject]:
    """Return passages with unique ids; a missing or duplicate id is replaced by an id from the content."""
    texts: dict[object, object] = {}
    ids = []
    for passage in passages:
        text = passage.get("text")
        is_unique = "id" in passage and texts.setdefault(str(passage["id"]), text) == text
        ids.append(passage["id"] if is_unique else content_id(str(text)))
    return [{"id": name, **passage, **{"id": name}} for name, passage in zip(ids, passages, strict=True)]


def _has_text(item: object) -> bool:
    """Return whether an item is an object with a text field; other JSON may itself be the text of a passage."""
    return isinstance(item, dict) and any(key in item for key in TEXTS)


def _passage(item: object, column: Column, result: ImportResult) -> JsonObject:
    if not isinstance(item, dict):
        return {"text": item}
    metadata = item["metadata"] if isinstance(item.get("metadata"), dict) else {}
    source, pages = page_field({**metadata, **item}, None) if column.role != "counterfactual" else ("", [])
    page = source if len(pages) == 1 else ""
    keys = {
        "id": next((key for key in IDS if item.get(key) not in (None, "")), ""),
        "text": next((key for key in TEXTS if item.get(key)), ""),
        "title": "title" if item.get("title") else "",
    }
    result.drop(item, (*keys.values(), page, *(["metadata"] if metadata else [])), f"{column.name}.")
    result.drop(metadata, () if page in item else (page,), f"{column.name}.metadata.")
    passage = {ours: item[theirs] for ours, theirs in keys.items() if theirs}
    passage |= {"text": plain(passage["text"])} if "text" in passage else {}
    return passage | ({"page": pages[0]} if page else {})
