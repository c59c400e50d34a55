"""The default system: the summary reports it, and no gate compares it with another system."""

from __future__ import annotations

import pytest
from support.projects.rag_project import RUNS, Mode, Project

CONFTEST = """
    import pytest

    @pytest.fixture(scope="session")
    def rag_system():
        return lambda query: "It opened in 1910."
"""

ROWS = [
    {"id": f"q{at}", "question": f"When did house {at} open?", "answers": ["1910"], "topic": "Houses"}
    for at in range(6)
]

UNNAMED = "system: extractive, built in: no fixture rag_system and no option names one"

ADVICE = (
    "the baseline does not hold the system extractive of test_it, only rag_system: add it with --rag-update-baseline"
)

BASELINE = ("--rag-baseline", "base.json")


@pytest.fixture
def houses(project: Project) -> Project:
    """Return a project with its own system, a corpus that the built-in reader can answer from, and a baseline."""
    project.says(ROWS, conftest=CONFTEST)
    project.file("houses.md", "\n\n".join(f"House {at} did open in 1910." for at in range(6)))
    project.file("pytest.ini", "[pytest]\nrag_corpus = houses.md\n")
    project.file("test_it.py", RUNS.replace("{arguments}", ", gates=['accuracy >= 0.5', 'accuracy >= baseline']"))
    run = project.run(*BASELINE, "--rag-update-baseline")
    assert run.status == 0
    assert "system: " not in run.text
    return project


def test_a_misspelt_fixture_is_reported_and_the_built_in_reader_is_not_compared_with_its_baseline(
    houses: Project, mode: Mode
) -> None:
    assert houses.run(*BASELINE, *mode).status == 0
    houses.file("conftest.py", CONFTEST.replace("rag_system", "rag_sytem"))
    run = houses.run(*BASELINE, *mode)
    assert run.status == 1
    assert [(gate["status"], gate["verdict"]) for gate in run.gates.values()] == [
        ("passed", None),
        ("failed", "not_comparable"),
    ]
    assert run.gates["accuracy >= baseline"]["reason"] == f"not comparable, {ADVICE}"
    assert UNNAMED in run.prose
    assert "warning: no fixture rag_system; did you mean rag_sytem (conftest.py:3)?" in run.prose
    warning = "the baseline holds rag_system, and extractive answers here: their differences are those of two systems"
    assert f"warning: {warning}" in run.prose
    assert run.results["plan"]["default_system"] == "extractive"
    assert UNNAMED in houses.command("show", "results.json", "--full").stdout


def test_a_system_that_an_option_names_is_not_reported_as_unnamed(houses: Project) -> None:
    houses.file("conftest.py", CONFTEST.replace("rag_system", "rag_sytem"))
    run = houses.run("--rag-system", "extractive")
    assert run.status == 4  # the gates need a baseline
    run = houses.run(*BASELINE, "--rag-system", "extractive")
    assert run.gates["accuracy >= baseline"]["verdict"] == "not_worse"  # named, so the comparison is meant
    assert "default_system" not in run.results["plan"]
    for absent in ("built in", "did you mean"):
        assert absent not in run.text


def test_a_case_without_passages_says_that_no_fixture_answers(project: Project) -> None:
    project.data(ROWS[:1])
    project.file("test_it.py", RUNS.replace("{arguments}", ""))
    run = project.run()
    (outcome,) = run.results["outcomes"]
    assert outcome["error_type"] == "no_passages"
    assert "override the fixture `rag_system`, `rag_corpus` or `rag_retriever`" in outcome["error"]
