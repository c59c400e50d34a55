"""The versions of Python and of the packages that decide scores."""

from __future__ import annotations

import platform
from functools import cache

__all__ = ["versions"]

_PACKAGES = ("pytest-rageval", "pytest", "pytest-xdist", "bm25s", "rjieba")


def versions() -> dict[str, str]:
    """Return package -> version, with Python under "python"."""
    return {"python": platform.python_version()} | {name: _installed(name) for name in _PACKAGES}


@cache
def _installed(package: str) -> str:
    """Return a package's version, read once: every run writes it several times."""
    from importlib.metadata import version

    return version(package)
