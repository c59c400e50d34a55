"""Write the causes of a run as workflow commands of GitHub Actions, which show them at the tests' lines.

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

MOST = 10
"""GitHub shows ten annotations of a kind for each step."""

TITLE = "RAG tests"

_ESCAPES = (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"))
_OF_PROPERTIES = ((":", "%3A"), (",", "%2C"))


def annotations_of(run: Run, rootdir: Path, workspace: str) -> Iterator[str]:
    """Yield a command for each of the first causes: an error, or a warning if the run did not fail.

    Args:
        run: the run, its gates evaluated.
        rootdir: the folder that node ids start from.
        workspace: the folder of the repository, which GitHub's paths start from; "" if unknown.
    """
    account = account_of(run)
    level = "error" if account.state == "failed" else "warning"
    for cause in account.causes[:MOST]:
        file, line = _place(run, cause)
        properties = (
            {"file": _below(workspace, rootdir / file), "line": line, "title": TITLE} if file else {"title": TITLE}
        )
        written = ",".join(f"{name}={_escaped(value, *_OF_PROPERTIES)}" for name, value in properties.items())
        yield f"::{level} {written}::{_escaped(ascii_safe(cause.sentence))}"


def _place(run: Run, cause: Finding) -> tuple[str, str]:
    """Return the file and the line of the marker or table of a cause's testbed, the first one of several."""
    outcome = run.outcomes.get(cause.cases[0]) if cause.cases else None
    nodeid = cause.testbed or (outcome.testbed if outcome is not None else next(iter(run.plan.testbeds), ""))
    testbed = run.plan.testbeds.get(nodeid)
    file, _, line = testbed.where.rpartition(":") if testbed is not None else ("", "", "")
    return (file, line) if file else (nodeid.partition("::")[0], "1")


def _below(workspace: str, path: Path) -> str:
    """Return a path as GitHub expects it: relative to the repository, if it is in it."""
    if workspace and path.is_relative_to(workspace):
        return path.relative_to(workspace).as_posix()
    return os.fspath(path)


def _escaped(text: str, *more: tuple[str, str]) -> str:
    for character, escape in (*_ESCAPES, *more):
        text = text.replace(character, escape)
    return text
