"""Markdown reports: the file of ``--rag-markdown`` and the step summary on GitHub."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.projects.rag_project import Project, cases

from pytest_rageval.cli import main
from pytest_rageval.report.export import report_files

SETS_STATUS = """
def pytest_sessionfinish(session):
    session.exitstatus = 1
"""


def write_project(project: Project) -> Project:
    project.says(cases("say Paris", "say Rome"), 'gates=["accuracy >= 0.9"]')
    return project


def test_the_report_has_the_verdict_its_cause_and_the_gates(project: Project) -> None:
    run = write_project(project).run("--rag-markdown", "out/rag.md")
    text = (project.path / "out" / "rag.md").read_text(encoding="utf-8")
    assert run.status == 1
    verdict = "## ❌ RAG tests: 1 of 1 gate failed - 1 case missed, 1 cause"
    cause = "- unknown: accuracy 0.50 &lt; 0.90 (1 of 2 missed)"
    assert text.startswith(f"{verdict}\n\n{cause}\n\n2 cases: 2 scored, 0 errors")
    assert "| ❌ | `accuracy >= 0.9` | `test_it` | 0.50 | 2 |" in text


def test_the_report_on_github_links_the_job_and_the_commit(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_REPOSITORY": "we/rag",
        "GITHUB_RUN_ID": "12",
        "GITHUB_SHA": "0123456789abcdef0123456789abcdef01234567",
    }.items():
        monkeypatch.setenv(name, value)
    write_project(project).run("--rag-markdown", "rag.md", "--rag-html", "out/rag.html")
    line = (project.path / "rag.md").read_text(encoding="utf-8").split("\n\n")[3]
    page, job, commit, rerun = line.split(" · ")
    assert page == "page: `rag.html`"
    assert job == "[job and artifacts](https://github.com/we/rag/actions/runs/12)"
    assert commit.startswith("commit [`0123456`](https://github.com/we/rag/commit/0123456")
    assert rerun == "rerun: `pytest test_it.py::test_it`"
    monkeypatch.delenv("GITHUB_RUN_ID")
    monkeypatch.delenv("GITHUB_SHA")
    again = project.run(*rerun.removeprefix("rerun: `pytest ").removesuffix("`").split())
    assert list(again.gates) == ["accuracy >= 0.9"]


def test_export_writes_the_same_report_from_the_results(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_project(project).run("--rag-markdown", "rag.md")
    monkeypatch.chdir(project.path)
    capsys.readouterr()
    assert main(["export", "results.json", "--as", "markdown"]) == 0
    report = (project.path / "rag.md").read_text(encoding="utf-8")
    assert capsys.readouterr().out == report
    assert main(["export", "results.json", "--as", "markdown", "--out", "again/rag.md"]) == 0
    assert capsys.readouterr().out.startswith("again/rag.md: markdown of run ")
    assert (project.path / "again" / "rag.md").read_text(encoding="utf-8") == report
    assert main(["export", "results.json", "--as", "markdown", "--out", "again"]) == 2
    assert "--out again cannot be written" in capsys.readouterr().err


def test_a_report_that_cannot_be_written_fails_a_session_that_would_have_passed(project: Project) -> None:
    project.says(cases("say Paris"))
    project.file("taken", "a file")
    run = project.run("--rag-markdown", "taken/rag.md")
    assert run.status == 1
    run.said("warning: *rag.md could not be written: *")
    (project.path / "folder").mkdir()
    run = project.run("--rag-markdown", "folder")
    assert run.status == 4
    assert "--rag-markdown names the directory 'folder'; name a file" in run.result.stderr.str()
    run = project.run("--rag-markdown", "-")
    assert run.status == 4
    assert "--rag-markdown names '-', and pytest writes to stdout itself; name a file" in run.result.stderr.str()
    assert not (project.path / "-").exists()


def test_markdown_is_appended_to_the_github_step_summary(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    summary = project.path / "summary.md"
    summary.write_text("# Before", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    project.says(cases("say Paris"))
    assert project.run().status == 0
    text = summary.read_text(encoding="utf-8")
    assert text.startswith("# Before\n\n## ✅ RAG tests: nothing failed, and there is no gate\n")


@pytest.mark.parametrize("fault", ["missing", "full"])
def test_a_step_summary_that_cannot_be_written_is_a_warning(
    project: Project, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    summary = project.path / "no" / "folder" if fault == "missing" else project.file("summary.md", "x" * 100)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    monkeypatch.setattr(report_files, "STEP_SUMMARY_BYTES", 200)
    project.says(cases("say Paris"))
    run = project.run()
    assert run.status == 0
    run.said("warning: *could not be written: *")
    assert fault == "missing" or summary.read_text(encoding="utf-8") == "x" * 100 + "\n"


def test_a_nearly_full_step_summary_gets_the_head_of_the_report(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = project.file("summary.md", "x" * 100)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    monkeypatch.setattr(report_files, "STEP_SUMMARY_BYTES", 500)
    assert write_project(project).run().status == 1
    text = summary.read_text(encoding="utf-8")
    assert "\n\n## ❌ RAG tests: 1 of 1 gate failed - 1 case missed, 1 cause\n\n- unknown: " in text
    assert text.endswith("\n4 more tables with 7 rows did not fit here.\n\n<!-- pytest-rageval -->\n")


def test_a_step_without_a_case_adds_nothing_to_its_summary(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    summary = project.path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    write_project(project)
    project.file("test_plain.py", "def test_plain(): pass")
    assert project.run("-k", "plain", "--rag-markdown", "rag.md").status == 0
    assert not summary.exists()
    assert "no case was run" in (project.path / "rag.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("fault", ["file", "plugin", "markdown"])
def test_the_verdict_is_red_if_only_the_exit_status_is(
    project: Project, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    summary = project.path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    project.says(cases("say Paris"), 'gates=["accuracy >= 0.9"]')
    project.file("taken", "a file")
    if fault == "plugin":
        with (project.path / "conftest.py").open("a", encoding="utf-8") as stream:
            stream.write(SETS_STATUS)
    paths = {"file": ("taken/results.json", "rag.md"), "markdown": ("results.json", "taken/rag.md")}
    json_path, markdown = paths.get(fault, ("results.json", "rag.md"))
    assert project.run("--rag-markdown", markdown, "--rag-json", json_path, json_path=None).status == 1
    text = summary.read_text(encoding="utf-8")
    assert "## ❌ RAG tests: nothing failed, and yet the exit status is 1\n" in text
    assert ("\n\nwarning: " in text) is (fault != "plugin")
    if fault != "markdown":
        assert (project.path / "rag.md").read_text(encoding="utf-8") == text.removeprefix("\n\n")


def test_merged_shards_have_one_report(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_project(project)
    for shard in (1, 2):
        project.run("--rag-shard", f"{shard}/2", "--rag-markdown", f"{shard}.md", json_path=f"{shard}.json")
        text = (project.path / f"{shard}.md").read_text(encoding="utf-8")
        assert text.startswith(f"## ⚠️ RAG tests: shard {shard} of 2 ended, rageval merge decides the gates")
    summary = Path(project.path / "summary.md")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    monkeypatch.chdir(project.path)
    assert main(["merge", "1.json", "2.json", "--markdown", "rag.md"]) == 1
    text = (project.path / "rag.md").read_text(encoding="utf-8")
    assert text.startswith("## ❌ RAG tests: 1 of 1 gate failed")
    assert summary.read_text(encoding="utf-8") == f"\n\n{text}"
    (project.path / "taken").mkdir()
    assert main(["merge", "1.json", "2.json", "--markdown", "taken"]) == 1
    assert "warning: taken could not be written" in capsys.readouterr().out
