"""Read a tool's result: text for the model, documents, and JSON for the trace."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from pytest_rageval.environments.tool import ToolResult
from pytest_rageval.model.plain import plain_json
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.retrieval.adapt_results import TEXTS, ranking_of
from pytest_rageval.trace.passages import passage_detail

__all__ = ["plain_result", "text_of"]

DOCUMENT_ATTRIBUTES = ("page_content", "get_content", "doc_id")
"""Attributes that identify documents of LangChain, of LlamaIndex, and `ScoredPassage`."""


def plain_result(returned: object, name: str) -> ToolResult:
    """Convert a tool's return value to plain JSON, and extract the documents in it.

    Documents are a `Ranking`, or a list of dicts with a text, of `ScoredPassage`, or of LangChain or LlamaIndex
    documents.
    """
    value = returned if isinstance(returned, ToolResult) else ToolResult(returned)
    passages, result = value.passages, value.result
    if not passages and _are_documents(result):
        passages = _passages(result, name)
    if passages and not _has_plain_items(result):
        result = [passage_detail(passage) for passage in passages]
    return ToolResult(plain_json(result), passages, value.found)


def text_of(result: Any) -> str:
    """Return a plain result as text: text unchanged, other values as JSON."""
    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)


def _are_documents(result: object) -> bool:
    if isinstance(result, Ranking):
        return len(result) > 0
    return isinstance(result, list | tuple) and len(result) > 0 and all(map(_is_document, result))


def _is_document(item: object) -> bool:
    if isinstance(item, Mapping):
        return any(isinstance(item.get(key), str) for key in TEXTS)
    return any(hasattr(getattr(item, "node", item), name) for name in DOCUMENT_ATTRIBUTES)


def _has_plain_items(result: object) -> bool:
    """Return whether a result is stored unchanged: a list of dicts, or neither a list nor a `Ranking`."""
    if isinstance(result, list | tuple):
        return all(isinstance(item, Mapping) for item in result)
    return not isinstance(result, Ranking)


def _passages(result: Any, name: str) -> tuple[ScoredPassage, ...]:
    try:
        return ranking_of(result, sys.maxsize, name, part="tool").items
    except Exception:  # documents of an unknown form are an ordinary result
        return ()
