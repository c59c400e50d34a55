"""Mark requests of the session's models, to not record them again as HTTP requests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["is_session_call", "session_call"]

_IS_SESSION_CALL: ContextVar[bool] = ContextVar("rageval_own_call", default=False)


def is_session_call() -> bool:
    """Return whether the running code is inside `session_call`: its client already records and charges the request."""
    return _IS_SESSION_CALL.get()


@contextmanager
def session_call() -> Iterator[None]:
    """Mark the requests inside the block as recorded by their client. Tasks and copied contexts inherit the mark."""
    outer = _IS_SESSION_CALL.set(True)
    try:
        yield
    finally:
        _IS_SESSION_CALL.reset(outer)
