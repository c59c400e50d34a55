"""Passages of imported rows: texts, or objects as other tools write them."""

from __future__ import annotations

from pytest_rageval.datasets.imports.cells import listed, value_in
from pytest_rageval.datasets.imports.taken import Taken
from pytest_rageval.datasets.rgb import content_id
from pytest_rageval.datasets.source import JsonObject

__all__ = ["named", "passages_of"]

IDS = ("id", "_id", "doc_id", "docid", "passage_id", "chunk_id")
TEXTS = ("text", "contents", "content", "passage", "page_content", "body")


def passages_of(value: object, ids: object, between: str | None, name: str, taken: Taken) -> list[JsonObject]:
    """Return passages with an id each: their own, else one of ``ids`` where there are as many, else of their content.

    What an object says besides its id, text and title is named as left.

    Args:
        value: texts or objects, or one.
        ids: their ids, or None.
        between: see `listed`.
        name: the field, to name what is left.
        taken: counts what is left.
    """
    inside = value_in(value)
    items = [inside] if isinstance(inside, dict) else inside
    if isinstance(items, list) and any(map(_holds_text, items)):
        passages = [_passage(item, name, taken) for item in items]
    else:
        passages = [{"text": text} for text in listed(value, between)]
    names = listed(ids, between, numbers=True)
    if not passages:
        return [{"id": each} for each in names]
    if len(names) == len(passages):
        passages = [{"id": each, **passage} for each, passage in zip(names, passages, strict=True)]
    return named(passages)


def named(passages: list[JsonObject]) -> list[JsonObject]:
    """Return passages with their ids; one without, or with that of another text, is named by its content."""
    texts: dict[object, object] = {}
    ids = []
    for passage in passages:
        text = passage.get("text")
        own = "id" in passage and texts.setdefault(str(passage["id"]), text) == text
        ids.append(passage["id"] if own else content_id(str(text)))
    return [{"id": name, **passage, **{"id": name}} for name, passage in zip(ids, passages, strict=True)]


def _holds_text(item: object) -> bool:
    """Return whether an item is a passage as an object; JSON without a text may itself be the text of one."""
    return isinstance(item, dict) and any(key in item for key in TEXTS)


def _passage(item: object, name: str, taken: Taken) -> JsonObject:
    if not isinstance(item, dict):
        return {"text": item}
    keys = {
        "id": next((key for key in IDS if item.get(key) not in (None, "")), ""),
        "text": next((key for key in TEXTS if item.get(key)), ""),
        "title": "title" if item.get("title") else "",
    }
    taken.drop(item, tuple(keys.values()), f"{name}.")
    return {ours: item[theirs] for ours, theirs in keys.items() if theirs}
