"""Read the messages of spans: prompts, replies and tool calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_rageval.trace.otel.spans import Span
from pytest_rageval.trace.otel.values import arguments_in

__all__ = ["indexed_objects", "prompt_of", "reply_of"]

Message = dict[str, Any]


def reply_of(messages: list[Any]) -> tuple[str | None, list[Message]]:
    """Return the text of a reply (None if there is none) and its tool calls."""
    parts = [part for message in messages for part in _parts(message)]
    texts = [
        part["content"] for part in parts if isinstance(part.get("content"), str) and part.get("type", "text") == "text"
    ]
    calls = [
        {"id": part.get("id"), "name": part.get("name"), "arguments": arguments_in(part.get("arguments"))}
        for part in parts
        if part.get("type") == "tool_call"
    ]
    return "".join(texts) if texts else None, calls


def prompt_of(messages: Any) -> list[Message]:
    """Return a prompt as messages with ``role`` and ``content``; empty if it was not recorded."""
    prompt = []
    for message in messages if isinstance(messages, list) else []:
        if isinstance(message, dict):
            contents = [content for part in _parts(message) if (content := _content(part)) is not None]
            prompt.append({"role": message.get("role"), "content": contents[0] if len(contents) == 1 else contents})
    return prompt


def _parts(message: Any) -> list[Mapping[str, Any]]:
    """Return the parts of a message; a message without parts is one part."""
    if not isinstance(message, dict):
        return []
    parts = message.get("parts")
    return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else [message]


def _content(part: Mapping[str, Any]) -> Any:
    """Return the content of a part: a text, or the response of a tool."""
    return next((part[key] for key in ("content", "response", "result") if part.get(key) is not None), None)


def indexed_objects(span: Span, prefix: str) -> list[Message]:
    """Return the objects whose fields are attributes such as ``PREFIX0.role`` and ``PREFIX0.content``."""
    objects: dict[int, Message] = {}
    for key, value in span.attributes.items():
        if key.startswith(prefix):
            number, _, name = key.removeprefix(prefix).partition(".")
            if number.isdecimal() and name:
                objects.setdefault(int(number), {})[name] = value
    return [objects[number] for number in sorted(objects)]
