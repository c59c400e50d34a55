"""The hooks ``pytest_rageval_outcome`` and ``pytest_rageval_finish`` in a conftest."""

from __future__ import annotations

import json

from support.projects.rag_project import RAISES, RIGHT, SAYS, WRONG, Mode, Project, cases

OBSERVES = """
    import json

    OUTCOMES = []

    def pytest_rageval_outcome(outcome):
        OUTCOMES.append(dict(outcome))

    def pytest_rageval_finish(results):
        with open("seen.json", "w") as stream:
            json.dump({"outcomes": OUTCOMES, "results": results}, stream)
"""


def test_hooks_get_outcomes_and_results_once_in_the_reporting_process(project: Project, mode: Mode) -> None:
    project.says(cases(RIGHT, WRONG, RAISES), "gates=['accuracy >= 0.5']", conftest=SAYS + OBSERVES)
    run = project.run(*mode)
    record = json.loads((project.path / "seen.json").read_text())
    assert record["results"] == run.results
    by_node = {outcome["nodeid"]: outcome for outcome in record["outcomes"]}
    assert len(record["outcomes"]) == 3
    assert by_node == {outcome["nodeid"]: outcome for outcome in run.results["outcomes"]}


def test_hooks_are_not_called_without_a_case(project: Project) -> None:
    project.file("conftest.py", OBSERVES)
    project.file("test_plain.py", "def test_plain():\n    pass\n")
    assert project.run().status == 0
    assert not (project.path / "seen.json").exists()
