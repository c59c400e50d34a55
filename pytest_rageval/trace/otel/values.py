"""Read the values of spans: JSON in strings, messages of LangChain, passages in results."""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_rageval.model.digests import content_id

__all__ = ["Passages", "ToolResult", "arguments_in", "decoded", "passage", "passage_of", "passages_in", "tool_result"]

Passages = list[dict[str, Any]]

TEXTS = ("text", "content", "page_content")
_OPENINGS = ("{", "[", '"')


class ToolResult:
    """The result of a tool call.

    Attributes:
        value: the text or JSON value.
        call_id: the id of the model's tool call, or "".
        error: the text of a failure that the framework caught; None if the tool succeeded.
        passages: the documents that it returned.
    """

    __slots__ = ("call_id", "error", "passages", "value")

    def __init__(self, value: Any, call_id: str, error: str | None, passages: Passages) -> None:
        self.value, self.call_id, self.error, self.passages = value, call_id, error, passages


def decoded(value: Any) -> Any:
    """Return the JSON value in a string; any other value unchanged."""
    if isinstance(value, str) and value.lstrip().startswith(_OPENINGS):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def arguments_in(value: Any) -> Any:
    """Return the arguments of a tool call; parse an object that is written as JSON or as a Python literal.

    LangChain's callbacks pass the arguments as ``input_str``, the text of a Python dict.
    """
    value = decoded(value)
    if isinstance(value, dict) and isinstance(value.get("input_str"), str):
        value = decoded(value["input_str"])
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            literal = ast.literal_eval(value.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return value
        return literal if isinstance(literal, dict) else value
    return value


def tool_result(value: Any) -> ToolResult:
    """Return the result of a tool; unwrap it from a LangChain message."""
    value = decoded(value)
    if isinstance(value, dict) and "output" in value and set(value) <= {"kwargs", "output", "tags", "metadata"}:
        value = decoded(value["output"])
    message = _message(value)
    if message is None:
        return ToolResult(value, "", None, passages_in(value))
    content = decoded(_text(message.get("content")))
    error = str(content) if message.get("status") == "error" else None
    passages = passages_in(content) or passages_in(decoded(message.get("artifact")))
    return ToolResult(content, str(message.get("tool_call_id") or ""), error, passages)


def _message(value: Any) -> Mapping[str, Any] | None:
    """Return the fields of a LangChain message that was written as JSON; None for any other value."""
    if not isinstance(value, dict):
        return None
    for key in ("kwargs", "data"):
        inner = value.get(key)
        if isinstance(inner, dict) and "content" in inner and ("lc" in value or "type" in value):
            return inner
    return value if "content" in value and "tool_call_id" in value else None


def _text(content: Any) -> Any:
    """Return the text of a message whose content is a list of blocks; other content unchanged."""
    if not isinstance(content, list) or not content:
        return content
    if not all(isinstance(each, dict) and each.get("type") == "text" and "text" in each for each in content):
        return content
    return "".join(str(each["text"]) for each in content)


def passages_in(value: Any) -> Passages:
    """Return the passages in a result: a list of objects with a text, alone or under a key of an object."""
    value = decoded(value)
    if isinstance(value, dict):
        lists = (each for each in value.values() if isinstance(each, list))
        return next((nested for each in lists if (nested := passages_in(each))), [])
    if not isinstance(value, list) or not value:
        return []
    passages = [passage_of(item) for item in value]
    return [passage for passage in passages if passage is not None] if all(passages) else []


def passage_of(item: Any) -> dict[str, Any] | None:
    """Return a passage with the known keys of ``{id, text, title, page, score}``; None if the item has no text."""
    item = decoded(item)
    if not isinstance(item, dict) or "role" in item or (item.get("type") == "text" and "id" not in item):
        return None  # a message, or a block of its content, is no passage
    fields: Mapping[str, Any] = item
    for inner in (item.get("kwargs") if "lc" in item else None, item.get("document")):
        fields = inner if isinstance(inner, dict) else fields
    text = next((fields[name] for name in TEXTS if isinstance(fields.get(name), str)), None)
    if text is None:
        return None
    decoded_metadata = decoded(fields.get("metadata"))
    metadata = decoded_metadata if isinstance(decoded_metadata, dict) else {}
    return passage(
        text,
        (fields.get("id"), fields.get("doc_id"), metadata.get("id"), metadata.get("source")),
        fields.get("score", item.get("score", metadata.get("score"))),
        fields.get("title") or metadata.get("title"),
        fields.get("page") or metadata.get("page_id") or metadata.get("source"),
    )


def passage(text: str | None, ids: Sequence[Any], score: Any, title: Any = None, page: Any = None) -> dict[str, Any]:
    """Return a passage with its known keys; without an id, its id is a hash of its text."""
    name = next((str(each) for each in ids if isinstance(each, (str, int)) and each != ""), None)
    result: dict[str, Any] = {"id": content_id(text or "") if name is None else name}
    if text is not None:
        result["text"] = text
    if isinstance(score, (int, float)) and not isinstance(score, bool) and math.isfinite(score):
        result["score"] = float(score)
    names = {"title": title, "page": page}
    return result | {key: value for key, value in names.items() if isinstance(value, str) and value not in ("", name)}
