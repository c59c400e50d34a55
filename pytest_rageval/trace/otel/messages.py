"""Read the messages that spans hold: prompts, and what a model wrote and which tools it called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_rageval.trace.otel.spans import Span
from pytest_rageval.trace.otel.values import arguments_in

__all__ = ["indexed", "prompt_of", "reply_of"]

Message = dict[str, Any]


def reply_of(messages: list[Any]) -> tuple[str | None, list[Message]]:
    """Return the text that a model wrote, None if there is none, and the tools that it called."""
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
            contents = [_content(part) for part in _parts(message)]
            known = [content for content in contents if content is not None]
            prompt.append({"role": message.get("role"), "content": known[0] if len(known) == 1 else known})
    return prompt


def _parts(message: Any) -> list[Mapping[str, Any]]:
    """Return the parts of a message; one without parts is its own part."""
    if not isinstance(message, dict):
        return []
    parts = message.get("parts")
    return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else [message]


def _content(part: Mapping[str, Any]) -> Any:
    """Return what a part says: a text, or the response of a tool."""
    return next((part[key] for key in ("content", "response", "result") if part.get(key) is not None), None)


def indexed(span: Span, prefix: str) -> list[Message]:
    """Return the objects that attributes such as ``PREFIX0.role`` and ``PREFIX0.content`` spell out."""
    objects: dict[int, Message] = {}
    for key, value in span.attributes.items():
        if key.startswith(prefix):
            number, _, name = key.removeprefix(prefix).partition(".")
            if number.isdecimal() and name:
                objects.setdefault(int(number), {})[name] = value
    return [objects[number] for number in sorted(objects)]
