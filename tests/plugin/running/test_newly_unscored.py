"""A baseline gate that holds warns of cases that only the baseline scored."""

from __future__ import annotations

import pytest
from support.projects.rag_project import Project, Row

RANKED = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["R@5", "accuracy"], gates={gates})
    def test_rooms(rag):
        ...
"""
SYSTEM = """
    import pytest
    from pytest_rageval import Answer, Ranking, ScoredPassage

    @pytest.fixture(scope="session")
    def rag_system():
        def answer(query):
            number = query.question.split()[-1]
            ranking = Ranking([ScoredPassage(number)]) if number not in {without} else None
            return Answer("statue", ranking=ranking)
        return answer
"""
WARNING = "warning: R@5 has no value in 3 cases that the baseline scored, so its gates compare only the other cases"


def rooms(project: Project, without: str, gates: str = '["R@5 >= baseline - 0.05"]') -> None:
    """Write a project with ten cases whose system returns no ranking for the cases in ``without``."""
    rows: list[Row] = [
        {"id": f"q{number}", "question": f"What is in {number}", "answers": ["statue"], "qrels": {str(number): 1}}
        for number in range(10)
    ]
    project.data(rows)
    project.file("test_it.py", RANKED.replace("{gates}", gates))
    project.file("conftest.py", SYSTEM.replace("{without}", without))
    project.file("pytest.ini", "[pytest]\nrag_baseline = rag-baseline.json")


@pytest.mark.parametrize("args", [(), ("-q",), ("-n2",)], ids=str)
def test_a_baseline_gate_that_holds_warns_of_lost_scores(project: Project, args: tuple[str, ...]) -> None:
    rooms(project, without="()")
    assert project.run("--rag-update-baseline").status == 0
    rooms(project, without="'258'")
    run = project.run("--rag-html", "rag.html", *args)
    assert (run.status, run.gates["R@5 >= baseline - 0.05"]["n_pairs"]) == (0, 7)
    assert WARNING in run.prose
    assert "R@5 has no value in 3 cases" in (project.path / "rag.html").read_text("utf-8")


def test_lost_scores_without_a_baseline_gate_are_no_warning(project: Project) -> None:
    rooms(project, without="()", gates='["R@5 >= 0.5", "accuracy >= baseline"]')
    assert project.run("--rag-update-baseline").status == 0
    rooms(project, without="'258'", gates='["R@5 >= 0.5", "accuracy >= baseline"]')
    run = project.run()
    assert run.status == 0
    assert "has no value" not in run.prose


def test_an_updated_baseline_has_nothing_to_warn_of(project: Project) -> None:
    rooms(project, without="()")
    assert project.run("--rag-update-baseline").status == 0
    rooms(project, without="'258'")
    assert "has no value" not in project.run("--rag-update-baseline").prose
