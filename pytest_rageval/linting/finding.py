"""What a check finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pytest_rageval.errors import ascii_safe, found
from pytest_rageval.model.case import Instance

__all__ = ["Finding", "Severity", "about", "some"]

Severity = Literal["error", "warning", "note"]
"""An error makes scores wrong or impossible whatever the system; a warning is worth a look, a note worth knowing."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong with a dataset, or worth knowing of it.

    Attributes:
        check: the name of the check that found it.
        severity: "error", "warning" or "note".
        id: the record's id, or "" where it is about the whole dataset.
        origin: ``file:line`` of the record, or the dataset.
        problem: one sentence.
    """

    check: str
    severity: Severity
    id: str
    origin: str
    problem: str

    def __str__(self) -> str:
        name = f" {self.id}" if self.id else ""
        return ascii_safe(f"{self.origin}: {self.severity}: {self.check}{name}: {self.problem}")


def about(instance: Instance, check: str, severity: Severity, problem: str) -> Finding:
    """Return what ``check`` found in one record."""
    return Finding(check, severity, instance.id, instance.origin, problem)


def some(names: list[str], first: int = 3) -> str:
    """Return the first few of some names for a message, and how many more there are."""
    shown = ", ".join(map(found, names[:first]))
    return shown if len(names) <= first else f"{shown} and {len(names) - first} more"
