"""The versions of Python and of the packages that decide scores."""

from __future__ import annotations

import platform

__all__ = ["versions"]

_PACKAGES = ("pytest-rageval", "pytest", "pytest-xdist", "bm25s", "rjieba")


def versions() -> dict[str, str]:
    """Return package -> version, with Python under "python"."""
    from importlib.metadata import version

    return {"python": platform.python_version()} | {name: version(name) for name in _PACKAGES}
