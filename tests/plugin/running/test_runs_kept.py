"""How many runs are kept."""

from __future__ import annotations

import pytest
from rag_project import RIGHT, Mode, Project, cases


def test_older_runs_are_removed_and_that_is_said(project: Project, mode: Mode) -> None:
    project.says(cases(RIGHT))
    project.file("pytest.ini", "[pytest]\nrag_keep_runs = 2\n")
    old = ["20260101T000000", "20260101T000001", "20260101T000001-2"]
    for name in old:
        (project.path / "runs" / name).mkdir(parents=True)
    project.file("conftest.py", (project.path / "conftest.py").read_text() + MOVED)
    run = project.run(*mode)
    assert run.status == 0
    run.said("runs removed, as rag_keep_runs says: 20260101T000000, 20260101T000001")
    kept = {path.name for path in (project.path / ".rageval" / "runs").iterdir()}
    assert kept == {"20260101T000001-2", run.results["run"]["id"]}
    assert {path.name for path in (project.path / ".rageval").iterdir()} == {".gitignore", "runs"}


MOVED = """
def pytest_configure():
    import pathlib
    if pathlib.Path("runs").exists():
        pathlib.Path(".rageval").mkdir()
        pathlib.Path("runs").rename(".rageval/runs")
"""


@pytest.mark.parametrize(("given", "kept"), [("all", 61), ("", 50)])
def test_all_runs_or_fifty(project: Project, given: str, kept: int) -> None:
    project.says(cases(RIGHT))
    project.file("pytest.ini", f"[pytest]\n{f'rag_keep_runs = {given}' if given else ''}\n")
    for number in range(10, 60):
        (project.path / "runs" / f"20260101T0000{number}").mkdir(parents=True)
    (project.path / "runs" / "20250101T000000").mkdir()
    for number in range(10, 19):
        (project.path / "runs" / f"20250101T0000{number}").mkdir()
    project.file("conftest.py", (project.path / "conftest.py").read_text() + MOVED)
    assert project.run().status == 0
    assert len(list((project.path / ".rageval" / "runs").iterdir())) == kept


@pytest.mark.parametrize("given", ["0", "-1", "many", "1.5"])
def test_another_number_is_refused(project: Project, given: str) -> None:
    project.says(cases(RIGHT))
    project.file("pytest.ini", f"[pytest]\nrag_keep_runs = {given}\n")
    run = project.run(json_path=None)
    assert run.status == pytest.ExitCode.USAGE_ERROR
    problem = f"rag_keep_runs is '{given}'; write how many runs are kept, 1 or more, or all"
    assert problem in run.result.stderr.str()
