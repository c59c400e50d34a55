"""``rageval history`` over runs, some with only a part of the testbeds."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.projects.rag_project import Project, case

TESTS = """
    import pytest
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"])
    def test_one(rag):
        pass

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"])
    def test_two(rag):
        pass
"""
SAYS = """
    import pytest

    @pytest.fixture(scope="session")
    def rag_system():
        return lambda query: "{answer}"
"""


def points(project: Project, name: str) -> list[dict[str, Any]]:
    output = json.loads(project.command("history", "--json").stdout)
    [series] = (each for each in output["series"] if each["name"] == name)
    return list(series["points"])


@pytest.mark.parametrize("arguments", [("-k", "test_one"), ("test_rag.py::test_one",)])
def test_history_shows_a_drop_in_a_run_of_one_testbed(project: Project, arguments: tuple[str, ...]) -> None:
    project.data([case("q1", "?", "Paris"), case("q2", "?", "Paris")])
    project.file("test_rag.py", TESTS)
    runs: tuple[tuple[str, tuple[str, ...]], ...] = (("Paris", ()), ("Rome", arguments))
    for answer, words in runs:
        project.file("conftest.py", SAYS.replace("{answer}", answer))
        project.run(*words, json_path=None, fresh=False)
    before, now = points(project, "test_one")
    assert (before["value"], now["value"], now["delta"], now["marks"]) == (1.0, 0.0, -1.0, [])
    [other] = points(project, "test_two")
    assert (other["value"], other["marks"]) == (1.0, [])


def test_history_compares_no_run_with_a_run_of_part_of_a_testbed(project: Project) -> None:
    project.data([case("q1", "?", "Paris"), case("q2", "?", "Rome")])
    project.file("test_rag.py", TESTS)
    project.file("conftest.py", SAYS.replace("{answer}", "Paris"))
    for words in ((), ("--deselect", "test_rag.py::test_one[q2]"), ()):
        project.run(*words, json_path=None, fresh=False)
    assert [(point["value"], point["delta"]) for point in points(project, "test_one")] == [
        (0.5, None), (1.0, None), (0.5, 0.0),
    ]  # fmt: skip
    assert [point["marks"] for point in points(project, "test_one")] == [[], ["1 case left out"], []]
    assert [(point["delta"], point["marks"]) for point in points(project, "test_two")] == [
        (None, []), (0.0, []), (0.0, []),
    ]  # fmt: skip
