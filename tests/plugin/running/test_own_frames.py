"""Failures in user code: pytest's message for a missing fixture, the frame in a debugger."""

from __future__ import annotations

import pytest
from support.projects.rag_project import Mode, Project, cases

MISSING = """
    import pytest

    @pytest.fixture(scope="session")
    def FIXTURE(no_such_client):
        return lambda query: "Paris"
"""
HALTING = """
    import pdb

    class Halting(pdb.Pdb):
        def interaction(self, frame, traceback):
            import inspect
            at = traceback if not isinstance(traceback, BaseException) else traceback.__traceback__
            at = frame if at is None else at
            while getattr(at, "tb_next", None):
                at = at.tb_next
            code = getattr(at, "tb_frame", at).f_code
            print("STOPPED IN", code.co_name)
"""
RAISES = """
    import asyncio
    import pytest

    KEYWORD ask(query):
        mine = 1
        raise ValueError("boom")

    @pytest.fixture(scope="session")
    def rag_system():
        BODY
"""


@pytest.mark.parametrize("fixture", ["rag_system", "rag_generator"])
def test_a_missing_fixture_of_the_system_has_the_message_of_pytest(project: Project, mode: Mode, fixture: str) -> None:
    project.says(cases("say Paris", "say Paris"), conftest=MISSING.replace("FIXTURE", fixture))
    run = project.run(*mode)
    assert run.status == 1
    run.said("E       fixture 'no_such_client' not found", "*def *(no_such_client):", ">       available fixtures: *")
    assert "FixtureLookupError" not in run.text
    assert "/_pytest/" not in run.text
    errors = {outcome["error"] for outcome in run.results["outcomes"] if outcome["status"] == "error"}
    [system] = {outcome["system"] for outcome in run.results["outcomes"]}
    assert errors == {f"system {system!r} could not be built: fixture 'no_such_client' not found"}


def test_a_missing_fixture_of_the_test_has_the_message_of_pytest(project: Project) -> None:
    head = "from pytest_rageval import rag_case\n@rag_case('jsonl:cases.jsonl')\n"
    project.says(cases("say Paris"), test=f"{head}def test_it(no_such_client, rag): ...\n")
    run = project.run()
    run.said("E       fixture 'no_such_client' not found", "  def test_it(no_such_client, rag): ...")
    assert "FixtureLookupError" not in run.text
    assert run.outcomes["q1"]["error"].endswith("before the case was asked: fixture 'no_such_client' not found")


@pytest.mark.parametrize(
    ("keyword", "body", "name"),
    [("def", "return ask", "ask"), ("async def", "return ask", "ask"), ("def", "return ask(1)", "ask")],
    ids=["sync", "async", "fixture"],
)
def test_the_debugger_stops_in_the_users_frame(project: Project, keyword: str, body: str, name: str) -> None:
    project.file("halting.py", HALTING)
    project.says(cases("say Paris"), conftest=RAISES.replace("KEYWORD", keyword).replace("BODY", body))
    run = project.run("--pdb", "--pdbcls", "halting:Halting")
    run.said(f"STOPPED IN {name}")
    assert "ValueError: boom" in run.text
