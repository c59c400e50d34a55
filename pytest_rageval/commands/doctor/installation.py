"""Check what is installed: Python, pytest, the package, and the libraries of each extra."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version

from packaging.requirements import Requirement

from pytest_rageval.hooks.doctor_command import Check

__all__ = ["check_installation"]

PACKAGE = "pytest-rageval"

DEVELOPMENT = ("all", "dev", "docs", "plugins")
"""Extras that no feature needs."""


def check_installation() -> Iterator[Check]:
    """Yield the versions of Python, pytest and this package, and whether each extra is installed."""
    yield Check("installed", "python", "ok", platform.python_version())
    for name in ("pytest", PACKAGE):
        yield Check("installed", name, "ok", version(name))
    for extra, needed in _extras().items():
        missing = [each.name for each in needed if not _is_met(each)]
        command = f"pip install '{PACKAGE}[{extra}]' ({', '.join(missing)})"
        versions = ", ".join(f"{each.name} {version(each.name)}" for each in needed if each.name not in missing)
        yield Check("installed", f"extra {extra}", "missing" if missing else "ok", command if missing else versions)


def _extras() -> dict[str, list[Requirement]]:
    """Return extra -> its requirements on this platform."""
    extras: dict[str, list[Requirement]] = {}
    for line in requires(PACKAGE) or ():
        requirement = Requirement(line)
        for extra in _extras_of(line):
            if extra not in DEVELOPMENT and requirement.marker and requirement.marker.evaluate({"extra": extra}):
                extras.setdefault(extra, []).append(requirement)
    return dict(sorted(extras.items()))


def _extras_of(line: str) -> list[str]:
    """Return the extras in the marker of a requirement, such as ``html`` in ``jinja2; extra == "html"``."""
    return [part.split()[0].strip("'\"()") for part in line.split("extra ==")[1:]]


def _is_met(requirement: Requirement) -> bool:
    try:
        return requirement.specifier.contains(version(requirement.name), prereleases=True)
    except PackageNotFoundError:
        return False
