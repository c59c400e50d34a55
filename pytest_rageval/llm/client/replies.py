"""Convert model replies to their stored form, and find those of a resumed run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pytest_rageval.errors import ModelError, SettingError
from pytest_rageval.llm.client.earlier_calls import PaidCall
from pytest_rageval.llm.client.usage_meter import Scope, describe_fault
from pytest_rageval.llm.recordings.request import Request
from pytest_rageval.model.answer import Usage
from pytest_rageval.model.calls import Calls

__all__ = ["calls_of", "readable", "reply_key", "stored_usage", "take_reply", "usage_of"]

_USAGE_FIELDS = ("prompt_tokens", "completion_tokens", "cost_usd")
"""Stored fields of a usage; latency is excluded because it differs in each run."""


def stored_usage(usage: Usage) -> dict[str, Any]:
    """Return the stored fields of a usage."""
    return {name: getattr(usage, name) for name in _USAGE_FIELDS}


@contextmanager
def readable(key: str, model: str) -> Iterator[None]:
    """Turn a field missing from the recording ``key`` into a `ModelError`."""
    try:
        yield
    except KeyError as error:
        problem = f"the recording {key} of {model} has no {error}; delete it and record it again"
        raise ModelError("malformed_response", problem, attempts=0) from None


def usage_of(response: Mapping[str, Any], key: str, model: str) -> Usage:
    """Return the usage of a recording.

    Raises:
        KeyError: a field is missing.
        ModelError: a field is not a valid amount.
    """
    usage = Usage(*(response[name] for name in _USAGE_FIELDS))
    if usage.fault:
        problem = f"the recording {key} of {model} has {describe_fault(usage)}; delete it and record it again"
        raise ModelError("malformed_response", problem, attempts=0)
    return usage


def calls_of(usage: Usage, *, spent_usd: float | None, attempts: int = 0, replayed: int = 0) -> Calls:
    """Return one call of a model with the usage of its reply."""
    return Calls(1, replayed, attempts, usage.prompt_tokens, usage.completion_tokens, usage.cost_usd, spent_usd)


def reply_key(scope: Scope, kind: str, model: str, params: Mapping[str, object], messages: Sequence[Any]) -> str:
    """Return a request's key in the journal; "" without a journal, or if the request is not JSON."""
    if scope.journal is None:
        return ""
    try:
        return Request(kind, model, params, messages, scope.repeat).key
    except SettingError:
        return ""


def take_reply(scope: Scope, kind: str, key: str) -> PaidCall | None:
    """Return the reply that an earlier run received, and charge it; None if the model must be asked."""
    earlier = scope.journal.take(kind, key) if scope.journal is not None and key else None
    if earlier is not None:
        scope.meter.take_over(earlier.calls)
    return earlier
