"""The values of a step "completion": what is new in the prompt, and the reply."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_rageval.model.chat import Completion, Message

__all__ = ["completion_detail", "new_messages"]


def new_messages(messages: Sequence[Message], sent: Sequence[Message]) -> list[dict[str, Any]]:
    """Return the part of a prompt that the request before did not have, so a trace holds each text once.

    Messages that are equal at the beginning are left out. Of a text that continues the one before, only the
    continuation is returned.
    """
    same = 0
    while same < min(len(messages), len(sent)) and messages[same] == sent[same]:
        same += 1
    new = [dict(message) for message in messages[same:]]
    before = sent[same].get("content") if same < len(sent) and new else None
    content = new[0].get("content") if new else None
    if isinstance(before, str) and before and isinstance(content, str) and content.startswith(before):
        new[0]["content"] = content[len(before) :]
    return new


def completion_detail(reply: Completion) -> dict[str, Any]:
    """Return what a reply says, in the form of a step."""
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
