"""Which process this is: the controller, a worker of xdist, or a session without workers."""

from __future__ import annotations

import pytest

__all__ = ["WATCHED", "is_watched_worker", "is_worker"]

WATCHED = "rag_watched"
"""Key in a worker's input if the controller shows a status line."""


def is_watched_worker(config: pytest.Config) -> bool:
    """Return whether this process is a worker whose controller shows a status line."""
    return WATCHED in getattr(config, "workerinput", {})


def is_worker(config: pytest.Config) -> bool:
    """Return whether this process is a worker of xdist."""
    return hasattr(config, "workerinput")
