"""Convert the results of users' and libraries' retrievers to a `Ranking`."""

from __future__ import annotations

import inspect
import math
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

from pytest_rageval.errors import SystemContractError, short_repr
from pytest_rageval.model.digests import content_id
from pytest_rageval.model.ranking import Ranking, ScoredPassage

__all__ = ["ranking_of"]

FORMS = "texts, (text, score) pairs, dicts with a text or an id, documents of LangChain or LlamaIndex, or a Ranking"

TEXTS = ("text", "page_content", "content")
PAGES = ("page_id", "source", "file_path", "doc_id", "ref_doc_id")
"""Fields that name the document of a passage; several passages may share it, so it is never used as an id."""


def ranking_of(value: object, k: int, name: str, part: str = "rag_retriever") -> Ranking:
    """Return the first ``k`` results of a retriever, in its own order.

    Scores are dropped if a passage has none, or if they rise from one passage to the next: rising scores are distances
    and would reverse the order. The id is the first of: ``id`` of the metadata, the id of the document, ``doc_id`` of
    the metadata, a hash of the text (`content_id`). The title and the page (see `PAGES`) come from the document or its
    metadata. A duplicate passage is dropped. A second text with the same id is another part of that document: its id
    becomes ``id#number``, with a number computed from its text.

    Args:
        value: a `Ranking`, or an iterable of passages in any form listed in `FORMS`.
        k: the maximum number of passages, 1 or more.
        name: the retriever's name, for messages.
        part: the fixture or option that supplies the retriever, for messages.

    Raises:
        SystemContractError: ``value`` or one of its items has another form, or a score is NaN or infinite.
    """
    if isinstance(value, Ranking):
        if (fault := value.fault) is not None:
            raise SystemContractError(f"{part} {name!r} returned a Ranking that {fault}")
        return Ranking(_check_scores(value.items[:k], name, part))
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        hint = "; declare it with async def to have it awaited" if inspect.isawaitable(value) else ""
        if inspect.iscoroutine(value):
            value.close()  # Python would warn that it was never awaited
        raise SystemContractError(f"{part} {name!r} returned a {type(value).__name__}; it must return {FORMS}{hint}")
    passages: dict[str, ScoredPassage] = {}
    for place, item in enumerate(value, 1):
        passage = _passage(item)
        if passage is None:
            problem = f"returned {short_repr(item)} at place {place}"
            raise SystemContractError(f"{part} {name!r} {problem}; it must return {FORMS}")
        if (fault := passage.fault) is not None:
            raise SystemContractError(f"{part} {name!r} returned at place {place} a passage with the {fault}")
        if passage.doc_id in passages and passages[passage.doc_id].text != passage.text:
            number = zlib.crc32(passage.text.encode("utf-8", "surrogatepass"))
            passage = replace(passage, doc_id=f"{passage.doc_id}#{number}", page=passage.page_id)
        passages.setdefault(passage.doc_id, passage)
        if len(passages) == k:
            break
    return Ranking(_without_distances(_check_scores(tuple(passages.values()), name, part)))


def _check_scores(items: tuple[ScoredPassage, ...], name: str, part: str) -> tuple[ScoredPassage, ...]:
    """Return the passages, or raise if a score is NaN or infinite."""
    for item in items:
        if item.score is not None and not math.isfinite(item.score):
            problem = f"gave the passage {short_repr(item.doc_id)} the score {item.score}"
            raise SystemContractError(f"{part} {name!r} {problem}; give a finite number, or None")
    return items


def _without_distances(items: tuple[ScoredPassage, ...]) -> tuple[ScoredPassage, ...]:
    """Return the passages, without scores if a score is missing or the scores rise."""
    scores = [item.score for item in items if item.score is not None]
    if len(scores) == len(items) and all(after <= before for before, after in pairwise(scores)):
        return items
    return tuple(replace(item, score=None) for item in items)


def _passage(item: object) -> ScoredPassage | None:
    """Return an item as a passage; None if it has none of the `FORMS`."""
    if isinstance(item, ScoredPassage):
        return item
    if isinstance(item, str):
        return ScoredPassage(content_id(item), None, item)
    if isinstance(item, tuple | list):
        passage = _passage(item[0]) if len(item) == 2 and _is_score(item[1]) else None
        return passage and replace(passage, score=_score(item[1]))
    return _from_fields(dict(item) if isinstance(item, Mapping) else _fields(item))


def _fields(document: object) -> dict[str, Any]:
    """Return the fields of a library's document; in LlamaIndex the score is outside of the node."""
    node = getattr(document, "node", document)
    content = getattr(node, "get_content", None)
    names = ("id", "metadata", "page", "ref_doc_id", "title", *TEXTS)
    fields = {name: getattr(node, name, None) for name in names}
    if callable(content):
        fields["text"] = content()
    fields["id"] = fields["id"] or getattr(node, "node_id", None)
    return {**fields, "score": getattr(document, "score", None)}


def _from_fields(fields: Mapping[str, Any]) -> ScoredPassage | None:
    value = fields.get("metadata")
    metadata: Mapping[str, Any] = value if isinstance(value, Mapping) else {}
    text = next((fields[name] for name in TEXTS if isinstance(fields.get(name), str)), None)
    ids = (metadata.get("id"), fields.get("id"), fields.get("_id"), fields.get("doc_id"), metadata.get("doc_id"))
    doc_id = next((str(each) for each in ids if each not in (None, "")), None)
    score = fields.get("score")
    if (doc_id is None and text is None) or not _is_score(score):
        return None
    title = fields.get("title") or metadata.get("title")
    pages = [fields.get("page"), *(metadata.get(name) or fields.get(name) for name in PAGES)]
    page = next((each for each in pages if isinstance(each, str) and each and each != doc_id), "")
    return ScoredPassage(
        content_id(text or "") if doc_id is None else doc_id,
        _score(score),
        text or "",
        title if isinstance(title, str) else "",
        page,
    )


def _is_score(value: object) -> bool:
    return value is None or (hasattr(value, "__float__") and not isinstance(value, bool))


def _score(value: Any) -> float | None:
    return None if value is None else float(value)
