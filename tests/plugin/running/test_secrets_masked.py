"""Secrets stay out of everything that a run writes and prints."""

from __future__ import annotations

import json
from textwrap import dedent

import pytest
from support.projects.rag_project import MODES, SAYS, Mode, Project, cases

KEY = "sk-a+b(c)[d]*e?f.g-0123456789"

SYSTEM = """
    import os
    import pytest

    KEY = os.environ["DESK_API_KEY"]

    def answer(query):
        print("asking with", KEY)
        kind = query.question
        if kind == "raise":
            raise ConnectionError(f"refused: Authorization: Bearer {KEY}")
        if kind == "cut":
            return f"Paris {KEY[:12]}\\n    {KEY[12:]}"
        if kind == "address":
            raise ConnectionError("no reply from http://ann:pw-of-ann@desk.test/v1?api_key=abc123&q=1")
        if kind == "named":
            return "Paris " + os.environ["DESK_ROOM"]
        return f"Paris, says {KEY}"

    @pytest.fixture(scope="session")
    def rag_system():
        return answer
"""

TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"])
    def test_it(rag):
        assert rag.case.instance.question != "assert" or rag.answer.text == "Paris"
"""


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
def test_no_file_and_no_line_of_a_run_holds_a_secret(
    project: Project, mode: Mode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DESK_API_KEY", KEY)
    monkeypatch.setenv("DESK_ROOM", "room 12 b")
    project.says(cases("echo", "raise", "cut", "address", "named", "assert"), test=TEST, conftest=SYSTEM)
    project.file("pytest.ini", "[pytest]\nrag_secrets = DESK_*")
    reports = ("--rag-markdown=r.md", "--rag-html=r.html", "--junitxml=r.xml", "-rA")
    run = project.run(*mode, *reports)
    assert run.statuses == {
        "q1": "scored",
        "q2": "error",
        "q3": "scored",
        "q4": "error",
        "q5": "scored",
        "q6": "scored",
    }
    assert run.outcomes["q1"]["answer"]["text"] == "Paris, says <DESK_API_KEY>"
    assert run.outcomes["q1"]["scores"]["accuracy"]["value"] == 1.0
    assert "Bearer <DESK_API_KEY>" in run.outcomes["q2"]["error"]
    assert run.outcomes["q3"]["answer"]["text"] == "Paris <DESK_API_KEY>"
    assert "http://<masked>@desk.test/v1?api_key=<masked>&q=1" in run.outcomes["q4"]["error"]
    assert run.outcomes["q5"]["answer"]["text"] == "Paris <DESK_ROOM>"
    paths = [path for path in project.path.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")]
    texts = {path.name: path.read_text("utf-8", "replace") for path in paths}
    assert {"r.md", "r.html", "r.xml", "results.json", "outcomes.jsonl"} <= texts.keys()
    for name, text in {**texts, "terminal": run.text}.items():
        for secret in (KEY, KEY[:12], KEY[12:], "pw-of-ann", "abc123", "room 12 b", json.dumps(KEY)):
            assert secret not in text, name


def test_other_plugins_see_the_id_of_a_case_and_no_text(project: Project) -> None:
    listing = """
        import pathlib

        def pytest_collection_finish(session):
            ids = [repr(item.callspec.params["rag"]) for item in session.items]
            pathlib.Path("ids.txt").write_text("\\n".join(ids))
    """
    project.says(cases("say Paris", "say Rome"), conftest=dedent(SAYS) + dedent(listing))
    project.run()
    assert (project.path / "ids.txt").read_text().split() == ["q1", "q2"]
