"""Find the libraries that a test needs and that are not installed."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

__all__ = ["missing"]


def missing(names: Sequence[str]) -> list[str]:
    """Return the modules of ``names`` that cannot be found."""

    def is_missing(name: str) -> bool:
        try:
            return find_spec(name) is None
        except ImportError:
            return True

    return [name for name in names if is_missing(name)]
