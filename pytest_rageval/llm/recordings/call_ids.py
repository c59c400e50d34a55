"""Number the ids of tool calls in recordings, because providers draw them at random.

The provider itself gets the ids that it gave: Mistral refuses any of another form, and litellm keeps Gemini's
signatures of thoughts in them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["with_numbered_calls"]


def with_numbered_calls(messages: Any) -> Any:
    """Return a conversation whose tool calls have the ids ``c1 c2 ...``, in the order in which they appear.

    Anything that is no conversation is returned unchanged.
    """
    if not isinstance(messages, list | tuple):
        return messages
    numbers: dict[str, str] = {}

    def numbered(holder: Any, key: str) -> Any:
        if not isinstance(holder, Mapping) or not isinstance(holder.get(key), str):
            return holder
        return {**holder, key: numbers.setdefault(holder[key], f"c{len(numbers) + 1}")}

    def renamed(message: Any) -> Any:
        calls = message.get("tool_calls") if isinstance(message, Mapping) else None
        if isinstance(calls, list | tuple):
            message = {**message, "tool_calls": [numbered(call, "id") for call in calls]}
        return numbered(message, "tool_call_id")

    return [renamed(message) for message in messages]
