"""Inputs that never end or are far too large: a one-sentence error instead of a hang."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.projects.rag_project import RIGHT, Mode, Project, cases

from pytest_rageval.cli import main

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes"),
    pytest.mark.timeout(60),
]

PROBLEMS = {"pipe": "it is a named pipe; name a regular file", "/dev/zero": "it is a device; name a regular file"}

USES: dict[str, tuple[str, Mode]] = {
    "answers": ("", ("--rag-answers", "INPUT")),
    "baseline": ("", ("--rag-baseline", "INPUT")),
    "baseline to update": ("", ("--rag-baseline", "INPUT", "--rag-update-baseline")),
    "corpus": ("rag_corpus = text:INPUT", ("--rag-system", "extractive")),
    "dictionary": ("rag_user_dict = INPUT", ()),
    "prompts": ("rag_prompts = en: INPUT", ("--rag-system", "llm")),
}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("use", USES)
def test_an_endless_input_is_reported_in_one_sentence(project: Project, use: str, name: str) -> None:
    project.says(cases(RIGHT))
    os.mkfifo(project.path / "pipe")
    ini, args = USES[use]
    project.file("pytest.ini", f"[pytest]\n{ini.replace('INPUT', name)}\n")
    run = project.run(*(arg.replace("INPUT", name) for arg in args))
    assert PROBLEMS[name] in run.text + run.result.stderr.str()
    assert run.status in (1, 4)
    assert "Traceback" not in run.text


@pytest.mark.parametrize("name", PROBLEMS)
def test_an_endless_dataset_is_reported_in_one_sentence(project: Project, name: str) -> None:
    project.says(cases(RIGHT))
    os.mkfifo(project.path / "pipe")
    (project.path / "test_it.py").write_text(
        (project.path / "test_it.py").read_text().replace("jsonl:cases.jsonl", f"jsonl:{name}")
    )
    run = project.run()
    assert run.status == 4
    assert f"{name}: cannot be read: {PROBLEMS[name]}" in run.text + run.result.stderr.str()


@pytest.mark.parametrize("command", ["show INPUT", "compare INPUT INPUT", "import table INPUT --out o", "lint INPUT"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_commands_refuse_endless_inputs(
    command: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    assert main(command.replace("INPUT", name).split()) != 0
    out, err = capsys.readouterr()
    assert Path(name).name in out + err
    assert "Traceback" not in err


def test_too_many_passages_are_reported_in_one_sentence(project: Project) -> None:
    project.says(cases(RIGHT), "ability='noise_robustness', passages=100_000_000")
    run = project.run()
    assert run.status == 4
    assert "passages: found 100000000, wanted at most 10,000 passages a case" in run.text + run.result.stderr.str()
