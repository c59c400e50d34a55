"""Read the result of an MCP tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_rageval.model.stored_json import parse_json

if TYPE_CHECKING:
    from mcp.types import CallToolResult

__all__ = ["ToolError", "result_of"]


class ToolError(Exception):
    """Raised when a tool reports an error; the message is the tool's, on one line."""


def result_of(returned: CallToolResult) -> Any:
    """Return a tool's structured content; otherwise its text, parsed as JSON if it is an object or a list.

    Server libraries wrap values that are not objects as ``{"result": value}``; then the value itself is returned.

    Raises:
        ToolError: the tool reports an error.
    """
    text = "\n".join(map(_text_of, returned.content))
    if returned.is_error:
        raise ToolError(" ".join(text.split()) or "the tool gave no reason")
    structured = returned.structured_content
    if structured is None:
        return _json_in(text)
    if isinstance(structured, dict) and structured.keys() == {"result"}:
        return structured["result"]
    return structured


def _text_of(block: Any) -> str:
    """Return the text of a content block; for an image, a sound or a file, return its type and address."""
    if isinstance(text := getattr(block, "text", None), str):
        return text
    resource = getattr(block, "resource", block)
    if isinstance(text := getattr(resource, "text", None), str):
        return text
    kind = getattr(resource, "mime_type", None) or getattr(block, "type", "content")
    uri = getattr(resource, "uri", None)
    return f"[{kind}: {uri}]" if uri else f"[{kind}]"


def _json_in(text: str) -> Any:
    if text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        return parse_json(text)
    except (ValueError, RecursionError):
        return text
