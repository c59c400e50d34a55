"""The versions that decide what a run says."""

from __future__ import annotations

import platform

__all__ = ["versions"]

_PACKAGES = ("pytest-rageval", "pytest", "pytest-xdist", "bm25s", "rjieba")


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages behind a run, by their names."""
    from importlib.metadata import version

    return {"python": platform.python_version()} | {name: version(name) for name in _PACKAGES}
