"""What is stored of a model's reply, and how a resumed run finds it again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pytest_rageval.errors import ModelError, SettingError
from pytest_rageval.llm.client.earlier_calls import PaidCall
from pytest_rageval.llm.client.usage_meter import Scope, faulty
from pytest_rageval.llm.recordings.request import Request
from pytest_rageval.model.answer import Usage
from pytest_rageval.model.calls import Calls

__all__ = ["calls_of", "readable", "reply_key", "stored_usage", "take_reply", "usage_of"]

_USED = ("prompt_tokens", "completion_tokens", "cost_usd")
"""What is stored of the usage; its seconds are not, as they differ each time."""


def stored_usage(usage: Usage) -> dict[str, Any]:
    """Return what is stored of a usage."""
    return {name: getattr(usage, name) for name in _USED}


@contextmanager
def readable(key: str, model: str) -> Iterator[None]:
    """Turn what is missing from the recording ``key`` of a model into a `ModelError`."""
    try:
        yield
    except KeyError as error:
        lacks = f"the recording {key} of {model} has no {error}; delete it and record it again"
        raise ModelError("malformed_response", lacks, attempts=0) from None


def usage_of(response: Mapping[str, Any], key: str, model: str) -> Usage:
    """Return the usage that a recording has.

    Raises:
        KeyError: a part of it is missing.
        ModelError: a part of it is no amount.
    """
    usage = Usage(*(response[name] for name in _USED))
    if usage.fault:
        what = f"the recording {key} of {model} has {faulty(usage)}; delete it and record it again"
        raise ModelError("malformed_response", what, attempts=0)
    return usage


def calls_of(usage: Usage, *, spent_usd: float | None, attempts: int = 0, replayed: int = 0) -> Calls:
    """Return a call of a model with what its reply says it used."""
    return Calls(1, replayed, attempts, usage.prompt_tokens, usage.completion_tokens, usage.cost_usd, spent_usd)


def reply_key(scope: Scope, kind: str, model: str, params: Mapping[str, object], asked: Sequence[Any]) -> str:
    """Return what identifies a request in the journal; "" if nothing is written, or if no JSON could hold it."""
    if scope.journal is None:
        return ""
    try:
        return Request(kind, model, params, asked, scope.repeat).key
    except SettingError:
        return ""


def take_reply(scope: Scope, kind: str, key: str) -> PaidCall | None:
    """Return what an earlier run was replied, and charge it; None if the model has to be asked."""
    found = scope.journal.take(kind, key) if scope.journal is not None and key else None
    if found is not None:
        scope.meter.take_over(found.calls)
    return found
