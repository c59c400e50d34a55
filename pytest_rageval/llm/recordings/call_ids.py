"""Number the ids of tool calls in recordings, because providers choose them at random.

Requests to the provider keep the original ids: Mistral refuses ids of another form, and litellm stores Gemini's
thought signatures in them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["number_call_ids"]


def number_call_ids(messages: Any) -> Any:
    """Return a conversation whose tool calls have the ids ``c1 c2 ...``, in the order in which they appear.

    Return any other value unchanged.
    """
    if not isinstance(messages, list | tuple):
        return messages
    numbers: dict[str, str] = {}

    def number_id(holder: Any, key: str) -> Any:
        if not isinstance(holder, Mapping) or not isinstance(holder.get(key), str):
            return holder
        return {**holder, key: numbers.setdefault(holder[key], f"c{len(numbers) + 1}")}

    def number_message(message: Any) -> Any:
        calls = message.get("tool_calls") if isinstance(message, Mapping) else None
        if isinstance(calls, list | tuple):
            message = {**message, "tool_calls": [number_id(call, "id") for call in calls]}
        return number_id(message, "tool_call_id")

    return [number_message(message) for message in messages]
