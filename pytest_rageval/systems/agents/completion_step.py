"""Build the detail of a step "completion": the new part of the prompt, and the reply."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_rageval.model.chat import Completion, Message

__all__ = ["completion_detail", "new_messages"]


def new_messages(messages: Sequence[Message], previous: Sequence[Message]) -> list[dict[str, Any]]:
    """Return the part of a prompt that the previous request did not have, so a trace stores each text once.

    Leave out the equal messages at the beginning. If the first new message continues the text of the message that it
    replaces, return only the continuation.

    Args:
        messages: the prompt.
        previous: the messages of the previous request.
    """
    common = 0
    while common < min(len(messages), len(previous)) and messages[common] == previous[common]:
        common += 1
    new = [dict(message) for message in messages[common:]]
    previous_text = previous[common].get("content") if common < len(previous) and new else None
    content = new[0].get("content") if new else None
    if isinstance(previous_text, str) and isinstance(content, str):
        new[0]["content"] = content.removeprefix(previous_text)
    return new


def completion_detail(reply: Completion) -> dict[str, Any]:
    """Return the values of a reply that the step stores."""
    usage = reply.usage
    detail: dict[str, Any] = {
        "model": reply.model,
        "finish_reason": reply.finish_reason,
        "attempts": reply.attempts,
        "replayed": reply.replayed,
        "text": reply.text,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cost_usd": usage.cost_usd,
    }
    if reply.tool_calls:
        detail["tool_calls"] = [{"name": call.name, "arguments": call.arguments} for call in reply.tool_calls]
    return {key: value for key, value in detail.items() if value is not None}
