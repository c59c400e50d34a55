"""Pause Python's garbage collection while the session creates many objects that it keeps."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["pause_garbage_collection"]


@contextmanager
def pause_garbage_collection() -> Iterator[None]:
    """Disable the search for cyclic garbage in the ``with`` block.

    Python searches all objects whenever their number has grown by a share. While records become test items, that takes
    a third of the time and finds nothing.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
