"""Mark the requests of the session's own models, which their client already records and charges."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["is_own_call", "own_call"]

_OWN: ContextVar[bool] = ContextVar("rageval_own_call", default=False)


def is_own_call() -> bool:
    """Return whether the running code sends a request that is recorded elsewhere."""
    return _OWN.get()


@contextmanager
def own_call() -> Iterator[None]:
    """Send requests inside the block that are recorded elsewhere. Tasks and copied contexts inherit it."""
    outer = _OWN.set(True)
    try:
        yield
    finally:
        _OWN.reset(outer)
