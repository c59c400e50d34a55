"""Convert completions to recordings and back, mask secrets, and cut at stop sequences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pytest_rageval.llm.secrets import mask
from pytest_rageval.model.answer import Usage
from pytest_rageval.model.chat import Completion, ToolCall

__all__ = ["completion_from_record", "completion_record", "cut_at_stop", "mask_secrets"]


def completion_record(reply: Completion) -> dict[str, Any]:
    """Return the fields of a reply for a recording, except tokens and price; omit fields with default values."""
    record: dict[str, Any] = {"text": reply.text, "finish_reason": reply.finish_reason, "model": reply.model}
    if reply.refused:
        record["refused"] = True
    if reply.tool_calls:
        record["tool_calls"] = [
            {"id": call.id, "name": call.name, "arguments": call.arguments} for call in reply.tool_calls
        ]
    return record


def completion_from_record(response: Mapping[str, Any], usage: Usage) -> Completion:
    """Return a recorded reply; raise `KeyError` with the name of a missing field."""
    return Completion(
        response["text"],
        usage,
        response["finish_reason"],
        response["model"],
        attempts=0,
        replayed=True,
        refused=bool(response.get("refused")),
        tool_calls=tuple(ToolCall(*_texts(call)) for call in response.get("tool_calls", ())),
    )


def mask_secrets(reply: Completion) -> Completion:
    """Return a reply with the secrets of the environment masked, in its text and in the arguments of tools."""
    calls = tuple(replace(call, arguments=mask(call.arguments)) for call in reply.tool_calls)
    return replace(reply, text=mask(reply.text), tool_calls=calls)


def cut_at_stop(reply: Completion, params: Mapping[str, object]) -> Completion:
    """Return a reply that ends before the first of the ``stop`` sequences.

    Many providers ignore ``stop``, or litellm leaves it out for them. A refusal is not cut: it is the provider's text.
    """
    stop = params.get("stop")
    sequences = [stop] if isinstance(stop, str) else stop if isinstance(stop, list | tuple) else []
    ends = [at for each in sequences if isinstance(each, str) and each and (at := reply.text.find(each)) >= 0]
    if not ends or reply.refused:
        return reply
    reason = "stop" if reply.finish_reason == "length" else reply.finish_reason
    return replace(reply, text=reply.text[: min(ends)], finish_reason=reason)


def _texts(call: object) -> tuple[str, str, str]:
    """Return id, name and arguments of a recorded call; raise `KeyError` for anything else."""
    if not isinstance(call, Mapping) or not all(
        isinstance(call.get(name), str) for name in ("id", "name", "arguments")
    ):
        raise KeyError("tool_calls")
    return call["id"], call["name"], call["arguments"]
