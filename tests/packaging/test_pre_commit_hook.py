"""The hook for pre-commit passes the names of changed files to `rageval lint`."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.projects.installed_programs import clean_environment, run_program

MANIFEST = Path(__file__).parents[2] / ".pre-commit-hooks.yaml"
FAKE = '{"id": "f", "question": "How many seats?", "answers": ["70"], "fake_answers": ["exactly 70"]}\n'
PROGRESS = re.compile(r"rageval: .+: check \d+ of \d+")
"""A line that `rageval lint` writes to stderr if it takes long."""

CONFIG = """\
repos:
  - repo: local
    hooks:
      - id: rageval-lint
        name: {name}
        entry: {entry}
        language: system
        files: {files}
"""


@pytest.fixture
def hook() -> Any:
    [hook] = pytest.importorskip("yaml").safe_load(MANIFEST.read_text(encoding="utf-8"))
    return hook


@pytest.fixture
def project(tmp_path: Path) -> Path:
    assert run_program(tmp_path, "rageval", "init")[0] == 0
    return tmp_path


@pytest.mark.parametrize(
    ("name", "is_checked"),
    [
        ("tests/rag.rag.toml", True),
        ("tests/cases.jsonl", True),
        ("cases.jsonl", True),
        ("tests/cases.answers.jsonl", False),
        ("cassettes/judge.jsonl", False),
        ("pyproject.toml", False),
        ("tests/showcases.jsonl", False),
    ],
)
def test_the_hook_checks_suites_and_cases(hook: Any, name: str, is_checked: bool) -> None:
    assert bool(re.search(hook["files"], name)) is is_checked


def test_the_entry_takes_file_names(hook: Any, project: Path) -> None:
    names = ["tests/rag.rag.toml", "tests/cases.jsonl"]
    status, output = run_program(project, *shlex.split(hook["entry"]), *names)
    lines = [line for line in output.splitlines() if not PROGRESS.fullmatch(line)]
    assert (status, lines) == (0, ["Nothing found. Gold answers were matched by accuracy."])
    with (project / "tests" / "cases.jsonl").open("a", encoding="utf-8") as stream:
        stream.write(FAKE)
    for changed_files in (names, names[:1], names[1:]):
        status, output = run_program(project, *shlex.split(hook["entry"]), *changed_files)
        assert (status, output.count("tests/cases.jsonl:7: error: gold_in_fake f: ")) == (1, 1)


def test_pre_commit_installs_the_hook_as_a_python_package(hook: Any) -> None:
    """`language: python` installs the program of the entry, a script of the package."""
    project = (MANIFEST.parent / "pyproject.toml").read_text(encoding="utf-8")
    assert hook["language"] == "python"
    assert f"[project.scripts]\n{hook['entry'].split()[0]} = " in project


PRE_COMMIT = os.environ.get("PRE_COMMIT_PROGRAM") or shutil.which("pre-commit")


@pytest.mark.skipif(not PRE_COMMIT, reason="pre-commit is not installed (PRE_COMMIT_PROGRAM names it)")
def test_a_commit_with_a_wrong_case_is_refused(
    hook: Any, project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    config = CONFIG.format(**{**hook, "entry": f"{Path(sys.executable).with_name('rageval')} lint"})
    (project / ".pre-commit-config.yaml").write_text(config, encoding="utf-8")
    env = {"PRE_COMMIT_HOME": str(tmp_path_factory.mktemp("pre-commit"))}
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org"]
    for command in (["git", "init", "-q"], [str(PRE_COMMIT), "install"], ["git", "add", "."]):
        subprocess.run(command, cwd=project, env=clean_environment(env), check=True, capture_output=True)
    assert run_program(project, *git, "commit", "-qm", "first", env=env)[0] == 0
    with (project / "tests" / "cases.jsonl").open("a", encoding="utf-8") as stream:
        stream.write(FAKE)
    status, output = run_program(project, *git, "commit", "-qam", "second", env=env)
    assert status == 1
    assert "tests/cases.jsonl:7: error: gold_in_fake f: " in output
