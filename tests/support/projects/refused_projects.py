"""Checks of sessions that end with a usage error."""

from __future__ import annotations

import re

import pytest

import pytest_rageval.hooks.collect.session
import pytest_rageval.model.metric  # pytester removes what a run imports first  # noqa: F401
from support.codes import without_code
from support.projects.rag_project import Project, Run

NOISE = ("Traceback", "INTERNALERROR", "crashed", "PluggyTeardownRaisedWarning", "Exception", "= rag =", " passed")


def refused(project: Project, *args: str, subprocess: bool = False) -> str:
    """Run a session that must end with a usage error; return its one sentence."""
    run = project.run(*args, subprocess=subprocess)
    return sentence_of(run, project)


def sentence_of(run: Run, project: Project) -> str:
    """Check that a session ended as a usage error, clean, before anything ran; return its sentence."""
    out, err = run.text, run.result.stderr.str()
    assert run.status == pytest.ExitCode.USAGE_ERROR, out + err
    for noise in NOISE:
        assert noise not in out + err
    sentences = [line.removeprefix("ERROR: ") for line in err.splitlines() if line.strip()]
    assert len(sentences) == 1, err
    assert not out.strip() or re.search(r"no tests (ran|collected) in", out), out
    assert run.results is None
    assert not (project.path / ".rageval").exists()
    assert sentences[0].isprintable()
    assert len(sentences[0]) < 1000
    return without_code(sentences[0])
