"""Sessions remove older runs: ``rag_keep_runs`` and its default."""

from __future__ import annotations

import pytest
from support.projects.rag_project import RIGHT, Mode, Project, cases

MOVES_RUNS = """
def pytest_configure():
    import pathlib
    if pathlib.Path("runs").exists():
        pathlib.Path(".rageval").mkdir()
        pathlib.Path("runs").rename(".rageval/runs")
"""


def write_old_runs(project: Project, *names: str) -> None:
    """Write a project with these runs from before the session."""
    project.says(cases(RIGHT))
    project.file("conftest.py", (project.path / "conftest.py").read_text() + MOVES_RUNS)
    for name in names:
        (project.path / "runs" / name).mkdir(parents=True)


@pytest.mark.parametrize("args", [(), ("-n2",)], ids=["plain", "n2"])
def test_older_runs_are_removed_and_verbose_output_reports_it(project: Project, args: Mode) -> None:
    write_old_runs(project, "20260101T000000", "20260101T000001", "20260101T000001-2")
    project.file("pytest.ini", "[pytest]\nrag_keep_runs = 2\n")
    run = project.run("-v", *args)
    assert run.status == 0
    run.said("runs removed because of rag_keep_runs: 20260101T000000, 20260101T000001")
    names = {path.name for path in (project.path / ".rageval" / "runs").iterdir()}
    assert names == {"20260101T000001-2", run.results["run"]["id"]}
    assert {path.name for path in (project.path / ".rageval").iterdir()} == {".gitignore", "runs"}


def test_fifty_runs_stay_by_default(project: Project) -> None:
    write_old_runs(project, *(f"20260101T0000{second}" for second in range(10, 60)))
    run = project.run()
    assert run.status == 0
    assert "removed" not in run.text  # not reported, because every later run would repeat it
    assert len(list((project.path / ".rageval" / "runs").iterdir())) == 50
