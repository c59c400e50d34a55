"""Fixtures of a test change no answer of another test, although that is asked ahead."""

from __future__ import annotations

import pytest
from support.projects.look_ahead_project import paris
from support.projects.rag_project import MODES, Mode, Project

PROFILE = """
    import asyncio
    import os
    import pytest

    @pytest.fixture(scope="session")
    def rag_system():
        async def answer(query):
            await asyncio.sleep(0.01)
            return os.environ.get("PROFILE", "Paris")
        return answer

    @pytest.fixture
    def patched(monkeypatch):
        monkeypatch.setenv("PROFILE", "Rome")

    @pytest.fixture(scope="class")
    def set_for_a_class():
        os.environ["PROFILE"] = "Rome"
        yield
        del os.environ["PROFILE"]
"""
"""A system that answers with an environment variable, and fixtures that set it for a test or a class."""

DATA = '@rag_case("jsonl:cases.jsonl", metrics=["accuracy"])'

TESTS = {
    "function fixture": f"""
    {DATA}
    def test_rome(patched, rag): assert rag.answer.text == "Rome"
""",
    "class fixture": f"""
    @pytest.mark.usefixtures("set_for_a_class")
    class TestRome:
        {DATA}
        def test_rome(self, rag): assert rag.answer.text == "Rome"
""",
    "fixture of a plain test": """
    import time

    def test_rome(patched): time.sleep(0.05)
""",
    "plain test that patches": """
    import time

    def test_rome(monkeypatch):
        monkeypatch.setenv("PROFILE", "Rome")
        time.sleep(0.05)
""",
}


@pytest.mark.parametrize("mode", [MODES["plain"], ("-n1",)], ids=["plain", "n1"])
@pytest.mark.parametrize("name", TESTS)
def test_a_patched_environment_changes_no_answer_of_the_tests_before_and_after(
    project: Project, name: str, mode: Mode
) -> None:
    plain = f"\n    {DATA}\n    def test_{{}}(rag): assert rag.answer.text == 'Paris'\n"
    test = f"    import pytest\n    from pytest_rageval import rag_case\n{plain.format('before')}{TESTS[name]}"
    project.says(paris(6), test=test + plain.format("after"), conftest=PROFILE)
    run = project.run(*mode)
    assert run.status == 0, run.text
