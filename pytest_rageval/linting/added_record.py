"""Check a record before it is added to a JSON Lines file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from pytest_rageval.linting.finding import Finding
from pytest_rageval.linting.linter import lint

__all__ = ["lint_added_record"]


def lint_added_record(content: bytes, line: int, shown: str) -> list[Finding]:
    """Return the findings of `rageval lint` about one line of a file that is not written yet.

    Findings about unreadable records in other lines are returned, too, because pytest would reject the whole file.

    Args:
        content: the content of the file, with the new line.
        line: the number of the new line, from 1.
        shown: the name of the file in messages.
    """
    with TemporaryDirectory(prefix="rageval-") as folder:
        path = Path(folder) / Path(shown).name
        path.write_bytes(content)
        findings = lint(f"jsonl:{path}")
        relevant = [
            each for each in findings if each.check == "unreadable" or each.origin.endswith(f"{path.name}:{line}")
        ]
        names = (str(path), path.name)
        return [_with_file_name(each, names, shown) for each in relevant]


def _with_file_name(finding: Finding, names: tuple[str, ...], shown: str) -> Finding:
    for name in names:
        if finding.origin.rpartition(":")[0] == name:
            finding = replace(finding, origin=f"{shown}:{finding.origin.rpartition(':')[2]}")
        finding = replace(finding, problem=finding.problem.replace(f"{name}:", f"{shown}:"))
    return finding
