"""The diagnosis of answers as users meet it: gates, results.json, the summary."""

from __future__ import annotations

from typing import Any

import pytest
from support.projects.rag_project import Mode, Project, Row

SYSTEM = """
    import pytest
    from pytest_rageval import Answer, Step

    def search(text, **more):
        return Step("tool", {"name": "Search", "arguments": {"title": "Rome"}, "result": text, **more})

    FAILED = search(None, error="TimeoutError: slow")
    LIMIT = Step("end", {"reason": "step_limit"})
    ANSWERS = {
        "retrieved": Answer("Rome", trace=(search("It is in Rome."),)),
        "memory": Answer("Rome", trace=(search("It is in Italy."),)),
        "missed": Answer("Lima", trace=(search("It is in Italy."),)),
        "ignored": Answer("Lima", trace=(search("It is in Rome."),)),
        "broken": Answer("", trace=(FAILED, FAILED, search("It is in Italy."), LIMIT)),
        "silent": Answer("Rome"),
    }

    def answer(query):
        if query.question == "raise":
            raise ValueError("no")
        return ANSWERS[query.question]

    @pytest.fixture(scope="session")
    def rag_system():
        return answer
"""

TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["token_f1"], gates=[{gates}])
    def test_agent(rag):
        ...
"""

QUESTIONS = ("retrieved", "retrieved", "memory", "missed", "ignored", "broken")


def rows(*questions: str, **more: Any) -> list[Row]:
    return [
        {"id": f"q{at}", "question": question, "answers": ["Rome"], "workflow": "pal" if at % 2 else "react", **more}
        for at, question in enumerate(questions, 1)
    ]


def make(project: Project, *gates: str, questions: tuple[str, ...] = QUESTIONS, ini: str = "") -> None:
    project.data(rows(*questions))
    project.file("conftest.py", SYSTEM)
    project.file("test_a.py", TEST.replace("{gates}", ", ".join(map(repr, gates))))
    if ini:
        project.file("pytest.ini", f"[pytest]\n{ini}\n")


def test_gates_on_types_pass_and_fail(project: Project, mode: Mode) -> None:
    make(
        project,
        "diagnosis:TE <= 0.2",
        "diagnosis:TE <= 0.05",
        "diagnosis:TE[workflow=pal] <= 0.1",
        "diagnosis:TE[workflow=react] <= 0.1",
        "diagnosis:EM >= 0.3",
        "diagnosis:ACC >= 60%",
        "diagnosis:WA <= 0.5",
    )
    run = project.run("--junitxml=junit.xml", *mode)
    assert run.gates == {
        "diagnosis:TE <= 0.2": "passed",
        "diagnosis:TE <= 0.05": "failed",
        "diagnosis:TE[workflow=pal] <= 0.1": "passed",
        "diagnosis:TE[workflow=react] <= 0.1": "failed",
        "diagnosis:EM >= 0.3": "passed",
        "diagnosis:ACC >= 60%": "failed",
        "diagnosis:WA <= 0.5": "passed",
    }
    assert run.status == 1
