"""Replies without an answer: each is an error of its own kind, never a score of 0."""

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
"""Finish reason -> kind of the error, what happened and what to do."""


def raise_if_empty(completion: Completion, model: str, params: Mapping[str, object]) -> None:
    """Raise the `ModelError` of a reply that has a finish reason but no text.

    The kinds are "cut_off", "filtered" and "empty_reply". A refusal has text. A reply without a finish reason comes
    from a user's own model and may be empty. A tool call is a reply where the caller sent tools.
    """
    reason = completion.finish_reason
    if reason is None or completion.text.strip() or (reason == "tool_calls" and params.get("tools")):
        return
    kind, problem, advice = _FAULTS.get(reason, _EMPTY)
    raise ModelError(
        kind, f"the model {model} {problem} (finish reason {reason}); {advice}", attempts=completion.attempts
    )
