"""Write a run's causes as GitHub Actions annotations at the lines of their tests.

Source: GitHub's "Workflow commands"; the escapes are those of ``command.ts`` in the repository actions/toolkit.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from pytest_rageval.analysis.account.finding import Finding
from pytest_rageval.errors import ascii_safe
from pytest_rageval.report.run.account import account_of
from pytest_rageval.report.run.run import Run

__all__ = ["annotations_of"]

MAX_ANNOTATIONS = 10
"""GitHub shows at most ten errors and ten warnings for each step."""

TITLE = "RAG tests"

_ESCAPES = (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"))
_PROPERTY_ESCAPES = ((":", "%3A"), (",", "%2C"))


def annotations_of(run: Run, rootdir: Path, workspace: str) -> Iterator[str]:
    """Yield one workflow command for each of the first causes: an error if the run failed, else a warning.

    Args:
        run: the run, its gates evaluated.
        rootdir: the folder that node ids start from.
        workspace: the folder of the repository, which GitHub's paths start from; "" if unknown.
    """
    account = account_of(run)
    level = "error" if account.state == "failed" else "warning"
    for cause in account.causes[:MAX_ANNOTATIONS]:
        file, line = _declaration(run, cause)
        properties = (
            {"file": _relative_path(workspace, rootdir / file), "line": line, "title": TITLE}
            if file
            else {"title": TITLE}
        )
        property_text = ",".join(f"{name}={_escape(value, *_PROPERTY_ESCAPES)}" for name, value in properties.items())
        yield f"::{level} {property_text}::{_escape(ascii_safe(cause.sentence))}"


def _declaration(run: Run, cause: Finding) -> tuple[str, str]:
    """Return the file and line that declare a cause's testbed; of the first testbed if there are several."""
    outcome = run.outcomes.get(cause.cases[0]) if cause.cases else None
    nodeid = cause.testbed or (outcome.testbed if outcome is not None else next(iter(run.plan.testbeds), ""))
    testbed = run.plan.testbeds.get(nodeid)
    file, _, line = testbed.where.rpartition(":") if testbed is not None else ("", "", "")
    return (file, line) if file else (nodeid.partition("::")[0], "1")


def _relative_path(workspace: str, path: Path) -> str:
    """Return a path relative to the repository, as GitHub expects it; unchanged if it is outside."""
    if workspace and path.is_relative_to(workspace):
        return path.relative_to(workspace).as_posix()
    return os.fspath(path)


def _escape(text: str, *more_escapes: tuple[str, str]) -> str:
    for character, escape in (*_ESCAPES, *more_escapes):
        text = text.replace(character, escape)
    return text
