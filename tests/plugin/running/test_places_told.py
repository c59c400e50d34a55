"""File and line of a failed gate, an error or a broken case: marker, suite table or record."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.projects.rag_project import RIGHT, WRONG, Project, cases

from pytest_rageval.cli import main

SUITE = """
# what the desk has to know

[[testbed]]
name = "one"
dataset = "jsonl:data/cases.jsonl"
metrics = ["accuracy"]

[[testbed]]
name = "two"
dataset = "jsonl:data/cases.jsonl"
metrics = ["accuracy"]
gates = ["accuracy >= 0.9"]
"""
TEST = """
from pytest_rageval import rag_case

@rag_case("jsonl:data/cases.jsonl", metrics=["accuracy"], gates=["accuracy >= 0.9"])
def test_it(rag): ...
"""
WORSE = """
import pytest

def say(query):
    if "again" in query.question:
        raise ValueError
    return "Rome" if "twice" in query.question else "Paris"

@pytest.fixture(scope="session")
def rag_system():
    return say
"""
LISTENER = """

    def pytest_runtest_logreport(report):
        if report.failed and report.when == "call":
            print("AT", *report.location[:2])
"""


def places(path: Path) -> set[tuple[str, str, int]]:
    entries = json.loads(path.read_text(encoding="utf-8"))
    return {(each["check_name"], each["location"]["path"], each["location"]["lines"]["begin"]) for each in entries}


def suite(project: Project, *questions: str) -> None:
    (project.path / "data").mkdir(exist_ok=True)
    rows = cases(*questions)
    project.says(rows, test="")
    (project.path / "test_it.py").unlink()
    (project.path / "cases.jsonl").replace(project.path / "data" / "cases.jsonl")


def test_code_quality_names_the_table_and_the_record(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.file("desk.rag.toml", SUITE)
    questions = RIGHT, f"{RIGHT} twice", f"{RIGHT} again"
    suite(project, *questions)
    assert project.run("--rag-baseline=base.json", "--rag-update-baseline").status == 0
    project.file("conftest.py", WORSE)
    assert project.run("--rag-baseline=base.json").status == 1
    monkeypatch.chdir(project.path)
    assert main(["export", "--as", "codequality", "--out", "quality.json"]) == 0
    assert places(Path("quality.json")) == {
        ("rag-gate", "desk.rag.toml", 8),
        ("rag-error", "data/cases.jsonl", 3),
        ("rag-broken", "data/cases.jsonl", 2),
    }


def test_a_gate_is_reported_at_its_marker(project: Project) -> None:
    suite(project, RIGHT, WRONG)
    project.file("test_it.py", TEST)
    conftest = project.path / "conftest.py"
    conftest.write_text(conftest.read_text(encoding="utf-8") + LISTENER.replace("\n    ", "\n"), encoding="utf-8")
    project.file("pytest.ini", "[pytest]\nrag_gates =\n    error_rate <= 0\n    accuracy >= 0.8\n")
    run = project.run("-s")
    locations = sorted(line.partition("AT ")[2] for line in run.result.stdout.lines if "AT " in line)
    assert locations == ["pytest.ini 3", "test_it.py 2"]
