"""``rageval compare`` without names and with one: a run against the baseline or the run before; its written reports."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.projects.rag_project import Project, case

UPDATE = ("--rag-baseline", "rag-baseline.json", "--rag-update-baseline")
INI = "[pytest]\nrag_baseline = rag-baseline.json\n"


def run(project: Project, wrong: int, *arguments: str) -> None:
    """Run eight cases, the first ``wrong`` of them with a wrong answer."""
    project.file("conftest.py", f"""
        import pytest

        @pytest.fixture(scope="session")
        def rag_system():
            return lambda query: "Rome" if int(query.question) < {wrong} else "Paris"
    """)  # fmt: skip
    project.run(*arguments, json_path=None, fresh=False)


@pytest.fixture
def compared(project: Project) -> Project:
    """Run twice: right, and with two wrong answers."""
    project.says([case(f"q{at}", str(at)) for at in range(8)], conftest="")
    run(project, 0)
    run(project, 2)
    return project


def plain(project: Project, *names: str) -> Any:
    command = project.command("compare", *names, "--json")
    assert command.returncode == 0, command.stderr
    return json.loads(command.stdout)


def refused(project: Project, *arguments: str) -> str:
    command = project.command("compare", *arguments)
    assert (command.returncode, command.stdout) == (2, "")
    return command.stderr


def names(project: Project) -> list[str]:
    return sorted(path.name for path in (project.path / ".rageval" / "runs").iterdir())


def broken(found: Any) -> int:
    [accuracy] = (each for each in found["comparisons"] if not each["slice"])
    return len(accuracy["broken"])


def test_without_a_baseline_the_newest_run_is_compared_with_the_run_before(compared: Project) -> None:
    run(compared, 5)
    found = plain(compared)
    first, second, third = names(compared)
    assert (found["old"]["run"], found["new"]["run"], broken(found)) == (second, third, 3)
    for name in (second, "latest~1", f".rageval/runs/{second}/results.json"):
        found = plain(compared, name)
        assert (found["old"]["run"], found["new"]["run"], broken(found)) == (first, second, 2)
    assert f"no baseline and no run before {first}; name two runs" in refused(compared, first)


def test_runs_without_a_common_case_are_one_sentence_without_a_verdict(compared: Project) -> None:
    compared.says([case(f"q{at}", str(at)) for at in range(8, 16)], conftest="")
    run(compared, 0)
    command = compared.command("compare")
    old, new, why, *_ = command.stdout.splitlines()
    assert (command.returncode, old[:4], new[:4]) == (0, "old:", "new:")
    assert why.startswith("nothing to compare: no case has a score in both runs")


def test_with_a_baseline_in_the_ini_it_is_compared_with_that(compared: Project) -> None:
    compared.file("pytest.ini", INI)
    first, second = names(compared)
    assert plain(compared)["old"]["run"] == first  # the baseline is not written yet
    run(compared, 0, *UPDATE)
    run(compared, 3)
    found = plain(compared)
    assert (found["old"]["path"], found["new"]["run"], broken(found)) == ("rag-baseline.json", names(compared)[-1], 3)
    found = plain(compared, second)
    assert (found["old"]["path"], found["new"]["run"], broken(found)) == ("rag-baseline.json", second, 2)
    assert "rag-baseline.json is a baseline; name the later run, too" in refused(compared, "rag-baseline.json")


def test_the_page_and_the_markdown_are_of_the_run_against_the_other(compared: Project) -> None:
    command = compared.command("compare", "--html", "page.html", "--markdown", "report.md")
    assert command.returncode == 0, command.stderr
    first, second = names(compared)
    report = (compared.path / "report.md").read_text(encoding="utf-8")
    assert "2 broke, 0 were fixed of 8 cases against " in report
    assert first in report
    page = (compared.path / "page.html").read_text(encoding="utf-8")
    assert first in page
    assert "<summary>Broken by the primary metric: 2 cases, none in a significant drop</summary>" in page
    assert f"new: (run {second})" in command.stdout
    stored = json.loads((compared.path / ".rageval/runs" / second / "results.json").read_text(encoding="utf-8"))
    assert "comparison" not in stored  # the run is as it was


def test_reports_of_runs_without_a_common_case_say_so(project: Project) -> None:
    for at, name in enumerate(("old", "new")):
        project.says([case(name, str(at))], conftest="")
        run(project, 0)
    command = project.command("compare", "--markdown", "report.md")
    told = "nothing to compare: no case has a score in both runs: 1 new (test_it.py::test_it[new]), 1 removed"
    assert told in " ".join(command.stdout.split())
    report = (project.path / "report.md").read_text(encoding="utf-8")
    assert "<summary>Nothing to compare: no case of this run is in the baseline with a score</summary>" in report
    assert "0 cases compared, 1 new, 1 removed" in report
    assert "0 broke" not in report


def test_a_report_overwrites_nothing_that_is_compared(compared: Project) -> None:
    compared.file("pytest.ini", INI)
    run(compared, 0, *UPDATE)
    first, second, third = names(compared)
    results = f".rageval/runs/{second}/results.json"
    for target in (results, "rag-baseline.json", ".rageval"):
        assert "name another file" in refused(compared, second, "--html", target)
    assert "name another file" in refused(compared, second, "--html", "x", "--markdown", "x")
    assert "--html and --markdown need a run" in refused(compared, first, "rag-baseline.json", "--html", "x")
    assert "takes two runs, found 3" in refused(compared, first, second, third)
    assert not (compared.path / "x").exists()
