"""Turn replies without an answer into errors instead of scores of 0."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_rageval.errors import ModelError
from pytest_rageval.model.chat import Completion

__all__ = ["raise_if_empty"]

_EMPTY = ("empty_reply", "sent an empty reply", "check its parameters, or ask another model")
_FAULTS: dict[str, tuple[str, str, str]] = {
    "length": ("cut_off", "reached its token limit before it wrote an answer", "raise max_tokens"),
    "content_filter": ("filtered", "had its reply removed by a content filter", "change the question or its passages"),
    "tool_calls": ("empty_reply", "called a tool instead of writing an answer", "ask it without tools"),
}
"""Finish reason -> error kind, problem, advice."""


def raise_if_empty(completion: Completion, model: str, params: Mapping[str, object]) -> None:
    """Raise a `ModelError` for a reply with a finish reason but no text.

    The error's kind is "cut_off", "filtered" or "empty_reply". A refusal has text, so it is no empty reply. A reply
    without a finish reason comes from a user's own model and may be empty. If the caller sent tools, a tool call is a
    valid reply, unless it was cut off or filtered.
    """
    reason = completion.finish_reason
    if reason is None or completion.text.strip():
        return
    calls_tool = reason == "tool_calls" or (completion.tool_calls and reason not in ("length", "content_filter"))
    if calls_tool and params.get("tools"):
        return
    kind, problem, advice = _FAULTS.get(reason, _EMPTY)
    raise ModelError(
        kind, f"the model {model} {problem} (finish reason {reason}); {advice}", attempts=completion.attempts
    )
