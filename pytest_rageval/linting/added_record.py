"""Check a record before it is added to a JSON Lines file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from pytest_rageval.linting.finding import Finding
from pytest_rageval.linting.linter import lint

__all__ = ["findings_of_added"]


def findings_of_added(content: bytes, line: int, shown: str) -> list[Finding]:
    """Return what `rageval lint` finds about one line of a file that is not written yet.

    An unreadable record anywhere is found too, because pytest refuses the whole file.

    Args:
        content: the file with the new line.
        line: its number, from 1.
        shown: the name of the file in messages.
    """
    with TemporaryDirectory(prefix="rageval-") as folder:
        path = Path(folder) / Path(shown).name
        path.write_bytes(content)
        found = lint(f"jsonl:{path}")
        own = [each for each in found if each.check == "unreadable" or each.origin.endswith(f"{path.name}:{line}")]
        names = (str(path), path.name)
        return [_renamed(each, names, shown) for each in own]


def _renamed(finding: Finding, names: tuple[str, ...], shown: str) -> Finding:
    for name in names:
        if finding.origin.rpartition(":")[0] == name:
            finding = replace(finding, origin=f"{shown}:{finding.origin.rpartition(':')[2]}")
        finding = replace(finding, problem=finding.problem.replace(f"{name}:", f"{shown}:"))
    return finding
