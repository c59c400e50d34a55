"""Reruns and timeouts in depth; `tests/plugin/compatibility` has every plugin."""

from __future__ import annotations

import pytest
from support.projects.rag_project import RIGHT, Mode, Project, cases

FLAKY = """
    import pathlib
    import pytest

    def flaky(query):
        kind, _, rest = query.question.partition(" ")
        marker = pathlib.Path(f"{query.question.replace(' ', '_')}.seen")
        first = not marker.exists()
        marker.touch()
        if kind == "raises" and first:
            raise ConnectionError("try again")
        if kind == "wrong" and first:
            return None
        return "Paris" if kind != "misses" or not first else "Rome"

    @pytest.fixture(scope="session")
    def rag_system():
        return flaky
"""
ASSERTED = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"], gates=["accuracy >= 1", "error_rate <= 0", "n >= 3"])
    def test_it(rag):
        rag.check("accuracy >= 1")
"""


def test_the_last_run_of_a_case_counts(project: Project, mode: Mode) -> None:
    project.says(cases("raises", "misses", "right"), test=ASSERTED, conftest=FLAKY)
    run = project.run("--reruns", "2", *mode)
    assert run.status == 0
    assert run.statuses == {"q1": "scored", "q2": "scored", "q3": "scored"}
    assert [gate["value"] for gate in run.results["gates"]] == [1.0, 0.0, 3]
    assert len(project.lines()) == 5  # each end of a test is stored at once
    assert run.text.count("3 passed") + run.text.count("6 passed") == 1
    run.said("*2 rerun*")


def test_a_system_that_breaks_its_contract_once_is_asked_again(project: Project) -> None:
    project.says(cases("wrong", "right", "right"), test=ASSERTED, conftest=FLAKY)
    run = project.run("--reruns", "1")
    assert run.status == 0
    assert set(run.statuses.values()) == {"scored"}


def test_a_system_that_stays_broken_is_an_error_after_its_reruns(project: Project) -> None:
    conftest = "import pytest\n\n@pytest.fixture(scope='session')\ndef rag_system():\n    return lambda query: 7\n"
    project.says(cases(*["?"] * 5), conftest=conftest)
    run = project.run("--reruns", "2")
    assert run.status == 1
    assert list(run.statuses.values()) == ["error"] * 3 + ["skipped"] * 2
    run.result.assert_outcomes(errors=3, skipped=2)


@pytest.mark.parametrize("keyword", ["def", "async def"])
def test_a_slow_system_is_timed_out(project: Project, keyword: str) -> None:
    wait = "await asyncio.sleep(30)" if keyword == "async def" else "time.sleep(30)"
    conftest = f"""
        import asyncio
        import time
        import pytest

        {keyword} slow(query):
            if query.question == "wait":
                {wait}
            return "Paris"

        @pytest.fixture(scope="session")
        def rag_system():
            return slow
    """
    project.says(cases(RIGHT, "wait", RIGHT), "gates=['error_rate <= 0.5', 'accuracy >= 1']", conftest=conftest)
    run = project.run("--timeout", "0.5")
    assert run.statuses == {"q1": "scored", "q2": "error", "q3": "scored"}
    assert run.outcomes["q2"]["error_type"] == "system_error"
    assert "Timeout" in run.outcomes["q2"]["error"]
    assert [gate["status"] for gate in run.results["gates"]] == ["passed", "passed"]
    assert run.status == 1
    run.result.assert_outcomes(passed=4, errors=1)
