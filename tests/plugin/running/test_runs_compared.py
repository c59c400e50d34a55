"""``rageval compare``: a run against the baseline or the run before, and its reports."""

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
def two_runs(project: Project) -> Project:
    """Return a project with two runs: all answers right, and two of them wrong."""
    project.says([case(f"q{at}", str(at)) for at in range(8)], conftest="")
    run(project, 0)
    run(project, 2)
    return project


def compare(project: Project, *names: str) -> Any:
    command = project.command("compare", *names, "--json")
    assert command.returncode == 0, command.stderr
    return json.loads(command.stdout)


def refusal(project: Project, *arguments: str) -> str:
    command = project.command("compare", *arguments)
    assert (command.returncode, command.stdout) == (2, "")
    return command.stderr


def names(project: Project) -> list[str]:
    return sorted(path.name for path in (project.path / ".rageval" / "runs").iterdir())


def n_broken(comparison: Any) -> int:
    [accuracy] = (each for each in comparison["comparisons"] if not each["slice"])
    return len(accuracy["broken"])


def test_without_a_baseline_the_newest_run_is_compared_with_the_run_before(two_runs: Project) -> None:
    run(two_runs, 5)
    comparison = compare(two_runs)
    first, second, third = names(two_runs)
    assert (comparison["old"]["run"], comparison["new"]["run"], n_broken(comparison)) == (second, third, 3)
    for name in (second, "latest~1", f".rageval/runs/{second}/results.json"):
        comparison = compare(two_runs, name)
        assert (comparison["old"]["run"], comparison["new"]["run"], n_broken(comparison)) == (first, second, 2)
    assert f"no baseline and no run before {first}; name two runs" in refusal(two_runs, first)


def test_runs_without_a_common_case_have_one_sentence_and_no_verdict(two_runs: Project) -> None:
    two_runs.says([case(f"q{at}", str(at)) for at in range(8, 16)], conftest="")
    run(two_runs, 0)
    command = two_runs.command("compare")
    old, new, reason, *_ = command.stdout.splitlines()
    assert (command.returncode, old[:4], new[:4]) == (0, "old:", "new:")
    assert reason.startswith("nothing to compare: no case has a score in both runs")


def test_with_a_baseline_in_the_ini_runs_are_compared_with_it(two_runs: Project) -> None:
    two_runs.file("pytest.ini", INI)
    first, second = names(two_runs)
    assert compare(two_runs)["old"]["run"] == first  # the baseline is not written yet
    run(two_runs, 0, *UPDATE)
    run(two_runs, 3)
    comparison = compare(two_runs)
    assert (comparison["old"]["path"], comparison["new"]["run"], n_broken(comparison)) == (
        "rag-baseline.json",
        names(two_runs)[-1],
        3,
    )
    comparison = compare(two_runs, second)
    assert (comparison["old"]["path"], comparison["new"]["run"], n_broken(comparison)) == (
        "rag-baseline.json",
        second,
        2,
    )
    assert "rag-baseline.json is a baseline; name the later run, too" in refusal(two_runs, "rag-baseline.json")


def test_the_page_and_the_markdown_compare_the_run_with_the_run_before(two_runs: Project) -> None:
    command = two_runs.command("compare", "--html", "page.html", "--markdown", "report.md")
    assert command.returncode == 0, command.stderr
    first, second = names(two_runs)
    report = (two_runs.path / "report.md").read_text(encoding="utf-8")
    assert "2 broke, 0 were fixed of 8 cases against " in report
    assert first in report
    page = (two_runs.path / "page.html").read_text(encoding="utf-8")
    assert first in page
    assert "<summary>Broken by the primary metric: 2 cases, none in a significant drop</summary>" in page
    assert f"new: (run {second})" in command.stdout
    stored = json.loads((two_runs.path / ".rageval/runs" / second / "results.json").read_text(encoding="utf-8"))
    assert "comparison" not in stored  # the stored run is unchanged


def test_the_report_of_runs_without_a_common_case_has_nothing_to_compare(project: Project) -> None:
    for at, name in enumerate(("old", "new")):
        project.says([case(name, str(at))], conftest="")
        run(project, 0)
    command = project.command("compare", "--markdown", "report.md")
    message = "nothing to compare: no case has a score in both runs: 1 new (test_it.py::test_it[new]), 1 removed"
    assert message in " ".join(command.stdout.split())
    report = (project.path / "report.md").read_text(encoding="utf-8")
    assert "<summary>Nothing to compare: no case of this run is in the baseline with a score</summary>" in report
    assert "0 cases compared, 1 new, 1 removed" in report
    assert "0 broke" not in report


def test_a_report_overwrites_nothing_that_is_compared(two_runs: Project) -> None:
    two_runs.file("pytest.ini", INI)
    run(two_runs, 0, *UPDATE)
    first, second, third = names(two_runs)
    results = f".rageval/runs/{second}/results.json"
    for target in (results, "rag-baseline.json", ".rageval"):
        assert "name another file" in refusal(two_runs, second, "--html", target)
    assert "name another file" in refusal(two_runs, second, "--html", "x", "--markdown", "x")
    assert "--html and --markdown need a run" in refusal(two_runs, first, "rag-baseline.json", "--html", "x")
    assert "takes two runs, found 3" in refusal(two_runs, first, second, third)
    assert not (two_runs.path / "x").exists()
