"""Pause Python's garbage collection while many values are made that stay."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["paused"]


@contextmanager
def paused() -> Iterator[None]:
    """Look for no cyclic garbage in the block.

    Python looks for it whenever the number of values has grown by a share, and visits all of them. That takes a third
    of the time in which records become test items, and finds nothing.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
