"""Files that a run is written to: which are there, and which could not be written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pytest_rageval.report.folder import fault_of

__all__ = ["Writing"]


class Writing:
    """Writes files, and goes on where one cannot be written.

    Attributes:
        faults: what went wrong, a sentence each, for the summary's warnings.
        written: the files that the summary says the place of.
    """

    def __init__(self) -> None:
        self.faults: list[str] = []
        self.written: list[Path] = []

    def report(self, path: Path, write: Callable[[], object]) -> bool:
        """Write what the summary says the place of, and return whether it went well."""
        if not self.write(path, write):
            return False
        self.written.append(path)
        return True

    def write(self, path: Path, write: Callable[[], object]) -> bool:
        """Write a file and return whether it went well."""
        fault = fault_of(path, write)
        self.faults += [] if fault is None else [fault]
        return fault is None
