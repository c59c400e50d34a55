"""The workflow of the example project: its jobs fit together, and its commands work."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
from support.projects.composite_action import GH, OTHERS, OURS
from support.projects.rag_project import Project, cases

from pytest_rageval.cli import main

WORKFLOW = Path(__file__).parents[3] / "example_project" / ".github" / "workflows" / "rag.yml"
BODY = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"], gates=["accuracy >= {bound}"])
    def test_it(rag):
        assert rag.case.id != "{fails}"
"""


@pytest.fixture
def jobs() -> Any:
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]


def command(job: Any, name: str) -> str:
    """Return the one command of a job that has ``name`` in it."""
    (line,) = [step["run"] for step in job["steps"] if f"{name} " in step.get("run", "") and "pip" not in step["run"]]
    assert isinstance(line, str)
    return line


def step_of(job: Any, action: str) -> Any:
    (action_step,) = [step for step in job["steps"] if step.get("uses", "").startswith(f"actions/{action}@")]
    return action_step


@pytest.mark.parametrize(
    ("bound", "fails", "status"), [(0.6, "", 0), (0.9, "q2", 1)], ids=["all holds", "a test and a gate fail"]
)
def test_the_jobs_together_have_the_status_of_one_run(
    project: Project, jobs: Any, bound: float, fails: str, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    project.says(cases("say Paris", "say Paris", "say Rome", "say Paris"))
    project.file("test_it.py", BODY.replace("{bound}", str(bound)).replace("{fails}", fails))
    job, upload, download = (
        jobs["shard"],
        step_of(jobs["shard"], "upload-artifact"),
        step_of(jobs["gates"], "download-artifact"),
    )
    assert jobs["gates"]["needs"] == "shard"
    assert jobs["gates"]["if"] == upload["if"] == "${{ !cancelled() }}"  # gates are decided even after a failed test
    shards = job["strategy"]["matrix"]["shard"]
    assert f"/{len(shards)} " in command(job, "pytest")
    for shard in shards:
        line, name = (
            text.replace("${{ matrix.shard }}", str(shard)) for text in (command(job, "pytest"), upload["with"]["name"])
        )
        run = project.run(*shlex.split(line)[3:], json_path=None)
        assert run.status in (0, status)
        assert fnmatch(name, download["with"]["pattern"])
        folder = project.path / download["with"]["path"] / name
        folder.mkdir(parents=True)
        for path in upload["with"]["path"].split():
            shutil.move(project.path / path, folder / path)
    rageval, *arguments = shlex.split(command(jobs["gates"], "merge"))
    assert rageval == "rageval"
    paths = [path for word in arguments for path in (sorted(map(str, project.path.glob(word))) or [word])]
    assert len(paths) == len(arguments) + len(shards) - 1
    assert main(paths) == status
    assert main(shlex.split(command(jobs["gates"], "export"))[1:]) == 0
    for path in step_of(jobs["gates"], "upload-artifact")["with"]["path"].split():
        assert (project.path / path).is_file()
    [comment] = set(re.findall(r"body=@(\S+)", command(jobs["gates"], "gh")))
    text = (project.path / comment).read_text(encoding="utf-8")
    assert text.startswith("## ❌ RAG tests: 1 of 1 gate" if status else "## ✅ RAG tests:")
    assert "4 cases, 0 errors, " in capsys.readouterr().out
    assert project.run().status == status


@pytest.mark.skipif(not (shutil.which("bash") and shutil.which("jq")), reason="bash and jq run the step")
@pytest.mark.parametrize(
    ("comments", "last"),
    [
        ([], "api --silent repos/org/town/issues/7/comments -F body=@rag.md"),
        (OTHERS, "api --silent repos/org/town/issues/7/comments -F body=@rag.md"),
        ([*OTHERS, OURS, OTHERS[0]], "api --silent --method PATCH repos/org/town/issues/comments/3 -F body=@rag.md"),
    ],
    ids=["none", "others'", "ours among others"],
)
def test_the_comment_of_an_earlier_run_is_edited_and_no_other(
    tmp_path: Path, jobs: Any, comments: list[Any], last: str
) -> None:
    (tmp_path / "gh").write_text(GH, encoding="utf-8")
    (tmp_path / "gh").chmod(0o755)
    (tmp_path / "comments.json").write_text(json.dumps(comments), encoding="utf-8")
    [step] = [step for step in jobs["gates"]["steps"] if "gh api" in step.get("run", "")]
    variables = {
        "GITHUB_REPOSITORY": "org/town",
        "PR": "7",
        "OURS": step["env"]["OURS"],
        "GH_LOG": str(tmp_path / "log"),
    }
    env = os.environ | variables | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    assert step["shell"] == "bash"
    subprocess.run(["bash", "-eo", "pipefail", "-c", step["run"]], cwd=tmp_path, env=env, check=True)
    list_call, write_call = (tmp_path / "log").read_text(encoding="utf-8").splitlines()
    assert list_call.startswith("api --paginate repos/org/town/issues/7/comments --jq ")
    assert write_call == last
