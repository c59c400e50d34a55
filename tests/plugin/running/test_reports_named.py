"""The summary ends with the paths of reports, and has colours if the terminal has them."""

from __future__ import annotations

import pytest
from support.projects.rag_project import Project, cases


def report_lines(text: str) -> list[str]:
    """Return the lines with the paths of reports."""
    return [line for line in text.splitlines() if line.startswith("written: ")]


def test_the_summary_lists_the_paths_of_reports(project: Project) -> None:
    project.says(cases("say Paris"))
    run = project.run("--rag-markdown", "out/rag.md", "--rag-baseline", "base.json", "--rag-update-baseline")
    run_results = next(project.path.glob(".rageval/runs/*/results.json")).relative_to(project.path)
    assert run.status == 0
    names = ["base.json", str(run_results), "results.json", "out/rag.md"]
    assert report_lines(run.text) == [f"written: {name}" for name in names]
    run = project.run(json_path=None)
    assert len(report_lines(run.text)) == 1


def test_quiet_output_has_no_paths_and_a_failed_report_is_not_listed(project: Project) -> None:
    project.says(cases("say Paris"))
    assert report_lines(project.run("-q").text) == []
    project.file("taken", "a file")
    run = project.run("--rag-markdown", "taken/rag.md", json_path=None)
    assert not any("rag.md" in line for line in report_lines(run.text))


@pytest.mark.parametrize("name", ["json", "html", "markdown", "mlflow"])
def test_a_report_without_a_path_is_refused(project: Project, name: str) -> None:
    project.says(cases("say Paris"))
    run = project.run(f"--rag-{name}=", json_path=None)
    assert run.status == 4
    run.result.stderr.fnmatch_lines([f"*--rag-{name} names no *; name *"])


@pytest.mark.parametrize(("args", "has_colour"), [(("--color=yes",), True), (("--color=no",), False), ((), False)])
def test_the_matrix_is_in_colour_if_pytest_uses_colours(
    project: Project, monkeypatch: pytest.MonkeyPatch, args: tuple[str, ...], has_colour: bool
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    project.says(cases("say Paris", topic="A"))
    text = project.run("-v", *args).text
    assert ("\x1b[30;48;5;75m1.00 (1)*\x1b[0m" in text) is has_colour
    assert ("\x1b" in text) is has_colour
    assert "1.00 (1)*" in text
