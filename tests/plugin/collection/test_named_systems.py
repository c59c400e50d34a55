"""``--rag-system module:attribute``: where modules are found, and when they are loaded."""

from __future__ import annotations

import sys

import pytest
from support.projects.rag_project import Mode, Project, cases

SYSTEM = """
    from pathlib import Path

    class Desk:
        made = 0
        def __init__(self):
            Desk.made += 1
        def __call__(self, query):
            from deskwords import prefix
            return f"{prefix} {Desk.made}"
"""


@pytest.fixture
def desk(project: Project) -> Project:
    project.says(cases("a", "b"), conftest="")
    project.file("pytest.ini", "[pytest]\n")
    return project


@pytest.mark.parametrize(
    ("place", "args"),
    [("rootdir", ()), ("invocation", ()), ("invocation", ("-n2",))],
    ids=["rootdir", "here", "here-n2"],
)
def test_modules_are_found_in_the_rootdir_and_in_the_invocation_dir(
    desk: Project, args: Mode, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = "" if place == "rootdir" else "elsewhere/"
    desk.file(f"{folder}deskapp.py", SYSTEM)
    desk.file(f"{folder}deskwords.py", "prefix = 'made'\n")
    desk.file("tests/test_it.py", (desk.path / "test_it.py").read_text())
    (desk.path / "test_it.py").unlink()
    (desk.path / "elsewhere").mkdir(exist_ok=True)
    monkeypatch.chdir(desk.path / "elsewhere")
    before = list(sys.path)
    args = ("--rootdir", str(desk.path), "--rag-system", "deskapp:Desk", *args)
    run = desk.run("../tests", *args, json_path="elsewhere/../results.json")
    assert {outcome["answer"]["text"] for outcome in run.outcomes.values()} == {"made 1"}
    assert run.status == 0
    assert sys.path == before


def test_a_module_of_pythons_path_comes_first(desk: Project) -> None:
    desk.file("colorsys.py", "raise RuntimeError('the wrong one')\n")
    desk.file("tests/test_it.py", (desk.path / "test_it.py").read_text())
    (desk.path / "conftest.py").unlink()
    run = desk.run("tests", "--rag-system", "colorsys:rgb_to_hls")
    assert run.statuses == {"q1": "error", "q2": "error"}
    assert "rgb_to_hls() missing 2 required positional arguments" in run.text


def test_nothing_is_imported_if_no_rag_case_is_collected(desk: Project) -> None:
    desk.file("deskapp.py", "raise RuntimeError('imported')\n")
    desk.file("test_plain.py", "def test_plain(): ...\n")
    assert desk.run("test_plain.py", "--rag-system", "deskapp:answer").status == 0


def test_the_name_of_a_registered_system_may_contain_a_colon(desk: Project) -> None:
    desk.file("conftest.py", """
        def pytest_rageval_register(registry):
            registry.systems.register("own:desk", lambda parts: lambda query: "registered")
    """)  # fmt: skip
    run = desk.run("--rag-system", "own:desk")
    assert {outcome["answer"]["text"] for outcome in run.outcomes.values()} == {"registered"}
