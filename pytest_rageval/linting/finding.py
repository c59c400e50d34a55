"""The findings that checks yield: problems of a dataset and notes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pytest_rageval.errors import ascii_safe, short_repr
from pytest_rageval.model.case import Instance

__all__ = ["Finding", "Severity", "first_names", "record_finding"]

Severity = Literal["error", "warning", "note"]
"""An error makes scores wrong or impossible for every system; a warning needs a look; a note is information."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem of a dataset, or a note about it.

    Attributes:
        check: the name of the check.
        severity: "error", "warning" or "note".
        id: the record's id; "" for the whole dataset.
        origin: ``file:line`` of the record, or the dataset.
        problem: the problem as one sentence.
    """

    check: str
    severity: Severity
    id: str
    origin: str
    problem: str

    def __str__(self) -> str:
        name = f" {self.id}" if self.id else ""
        return ascii_safe(f"{self.origin}: {self.severity}: {self.check}{name}: {self.problem}")


def record_finding(instance: Instance, check: str, severity: Severity, problem: str) -> Finding:
    """Return a finding about one record."""
    return Finding(check, severity, instance.id, instance.origin, problem)


def first_names(names: list[str], first: int = 3) -> str:
    """Return the first few names for a message, with the number of the others."""
    text = ", ".join(map(short_repr, names[:first]))
    return text if len(names) <= first else f"{text} and {len(names) - first} more"
