"""Check whether a prompt and its reply fit into a model's context."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pytest_rageval.model.chat import ChatModel, Message

__all__ = ["REPLY_TOKENS", "has_room", "room_for_reply"]

REPLY_TOKENS = 256
"""Tokens that are reserved for a reply without ``max_tokens``."""

_FRAME = 16
"""Upper bound of the tokens of a message without its content, such as its role."""


def room_for_reply(model: ChatModel) -> int:
    """Return how many tokens a reply may take: the model's ``max_tokens``, else `REPLY_TOKENS`."""
    params = getattr(model, "params", None) or {}
    limit = params.get("max_completion_tokens") or params.get("max_tokens")
    return limit if isinstance(limit, int) else REPLY_TOKENS


def has_room(model: ChatModel, messages: Sequence[Message], reserved: int) -> bool:
    """Return whether messages and ``reserved`` tokens fit into the model's context; True if its size is unknown.

    The size comes from litellm's price map. The model's own tokenizer counts the tokens if litellm has it, else they
    are estimated.
    """
    from pytest_rageval.llm.backends.prices import count_tokens, entry

    name = str(getattr(model, "name", ""))
    context = entry(name).get("max_input_tokens") if name else None
    if not isinstance(context, int):
        return True
    upper_bound = sum(_bytes(message) + _FRAME for message in messages)
    if upper_bound + reserved <= context:  # a token has at least one byte, and a tokenizer is slow
        return True
    return count_tokens(name, messages)[0] + reserved <= context


def _bytes(message: Message) -> int:
    calls = message.get("tool_calls")
    text = f"{message.get('content') or ''}{json.dumps(calls, default=str) if calls else ''}"
    return len(text.encode("utf-8", "replace"))
