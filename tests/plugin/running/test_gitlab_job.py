"""The job for GitLab in docs/how-to/gitlab.md: its commands write the artifacts that it names, whatever failed."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from xml.etree import ElementTree

import pytest
from support.projects.rag_project import Project, cases

from pytest_rageval.cli import main

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "gitlab.md"


def test_the_job_leaves_the_artifacts_that_it_names(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    yaml = pytest.importorskip("yaml")
    [text] = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    job = yaml.safe_load(text)["rag"]
    _, tests = job["script"]
    [show] = job["after_script"]
    project.says(cases("say Paris", "say Rome"), 'gates=["accuracy >= 0.9"]')
    assert project.run(*shlex.split(tests)[1:], json_path=None).status == 1
    monkeypatch.chdir(project.path)
    assert main(shlex.split(show)[1:]) == 0
    assert job["artifacts"]["when"] == "always"
    [markdown], reports = job["artifacts"]["paths"], job["artifacts"]["reports"]
    assert (project.path / markdown).read_text(encoding="utf-8").startswith("## ❌ RAG tests: 1 of 1 gate failed")
    [entry] = json.loads((project.path / reports["codequality"]).read_text(encoding="utf-8"))
    assert entry["description"] == "gate accuracy >= 0.9 of test_it failed: accuracy is 0.5"
    assert (project.path / entry["location"]["path"]).is_file()
    [suite] = ElementTree.parse(project.path / reports["junit"]).getroot()  # noqa: S314 - we wrote it
    assert (suite.get("tests"), suite.get("failures")) == ("3", "1")
