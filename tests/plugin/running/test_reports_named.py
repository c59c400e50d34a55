"""The end of the summary says where reports were written, and colours are where a terminal wants them."""

from __future__ import annotations

import pytest
from support.projects.rag_project import Project, cases


def written(text: str) -> list[str]:
    """Return the lines that say where reports were written."""
    return [line for line in text.splitlines() if line.startswith("written: ")]


def test_the_summary_says_where_reports_are(project: Project) -> None:
    project.says(cases("say Paris"))
    run = project.run("--rag-markdown", "out/rag.md", "--rag-baseline", "base.json", "--rag-update-baseline")
    kept = next(project.path.glob(".rageval/runs/*/results.json")).relative_to(project.path)
    assert run.status == 0
    names = ["base.json", str(kept), "results.json", "out/rag.md"]
    assert written(run.text) == [f"written: {name}" for name in names]
    short = project.run(json_path=None)
    assert len(written(short.text)) == 1


def test_q_does_not_and_what_failed_is_not_named(project: Project) -> None:
    project.says(cases("say Paris"))
    assert written(project.run("-q").text) == []
    project.file("taken", "a file")
    run = project.run("--rag-markdown", "taken/rag.md", json_path=None)
    assert not any("rag.md" in line for line in written(run.text))


@pytest.mark.parametrize("name", ["json", "html", "markdown", "mlflow"])
def test_a_report_without_a_path_is_refused(project: Project, name: str) -> None:
    project.says(cases("say Paris"))
    run = project.run(f"--rag-{name}=", json_path=None)
    assert run.status == 4
    run.result.stderr.fnmatch_lines([f"*--rag-{name} names no *; name *"])


@pytest.mark.parametrize(("args", "coloured"), [(("--color=yes",), True), (("--color=no",), False), ((), False)])
def test_the_matrix_is_in_colour_where_pytest_is(
    project: Project, monkeypatch: pytest.MonkeyPatch, args: tuple[str, ...], coloured: bool
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    project.says(cases("say Paris", topic="A"))
    text = project.run("-v", *args).text
    assert ("\x1b[30;48;5;75m1.00 (1)*\x1b[0m" in text) is coloured
    assert ("\x1b" in text) is coloured
    assert "1.00 (1)*" in text
