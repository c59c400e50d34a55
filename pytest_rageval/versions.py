"""Read the versions of Python and of the packages that can change scores."""

from __future__ import annotations

import platform
from functools import cache

__all__ = ["installed_version", "versions"]

_PACKAGES = ("pytest-rageval", "pytest", "pytest-xdist", "bm25s", "rjieba")


def versions() -> dict[str, str]:
    """Return package -> version, with Python under "python"."""
    return {"python": platform.python_version()} | {name: installed_version(name) for name in _PACKAGES}


@cache
def installed_version(package: str) -> str:
    """Return a package's version; "unknown" if the package is importable but not installed, as in some builds.

    The version is cached, because every run writes it several times.
    """
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"
