"""Conversations with the system's own earlier answers, in any order and on workers."""

from __future__ import annotations

import json

import pytest
from support.projects.rag_project import Mode, Project, Row

SYSTEM = """
    import asyncio, json, pytest

    @pytest.fixture(scope="session")
    def rag_system():
        async def answer(query):
            with open("asked.txt", "a") as file:
                file.write(query.question + "\\n")
            await asyncio.sleep(0.001)
            if query.question == "fail":
                raise ValueError("out of order")
            return query.question + "".join(f" < {turn.answer}" for turn in query.history[-1:])
        return answer
"""

SYNC = SYSTEM.replace("async def", "def").replace("await asyncio.sleep(0.001)", "pass")

TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"], history="own", gates=["accuracy >= 0.5"])
    def test_talk(rag):
        ...
"""


def turns(dialogue: str, *questions: str) -> list[Row]:
    """Return the turns of a dialogue; their recorded history differs from the system's answers."""
    history: list[Row] = [{"question": question, "answer": "gold"} for question in questions]
    return [
        {"id": f"{dialogue}.{at}", "question": question, "answers": [questions[0]], "history": history[: at - 1]}
        | {"dialogue": dialogue, "round": at}
        for at, question in enumerate(questions, 1)
    ]


def write_project(project: Project, *rows: Row, conftest: str = SYSTEM, test: str = TEST) -> None:
    project.data(rows)
    project.file("conftest.py", conftest)
    project.file("test_talk.py", test)


def asked_questions(project: Project) -> list[str]:
    return (project.path / "asked.txt").read_text().split()


def answered_turns(*answers: str) -> list[dict[str, str]]:
    """Return a history of the turns a, b, ... with these answers."""
    return [{"question": "abc"[at], "answer": answer} for at, answer in enumerate(answers)]


@pytest.mark.parametrize("conftest", [SYSTEM, SYNC], ids=["async", "sync"])
def test_each_turn_gets_the_systems_own_earlier_answers(project: Project, mode: Mode, conftest: str) -> None:
    write_project(project, *turns("d", "a", "b", "c"), *turns("e", "x", "y"), conftest=conftest)
    run = project.run("-v", *mode)
    answers = {name: outcome["answer"]["text"] for name, outcome in run.outcomes.items()}
    assert answers == {"d.1": "a", "d.2": "b < a", "d.3": "c < b < a", "e.1": "x", "e.2": "y < x"}
    assert [run.outcomes[f"d.{at}"]["history"] for at in (1, 2, 3)] == [
        [],
        answered_turns("a"),
        answered_turns("a", "b < a"),
    ]
    assert run.results["instances"]["d.2"]["history"] == [{"question": "a", "answer": "gold"}]
    assert sorted(asked_questions(project)) == ["a", "b", "c", "x", "y"]
    assert {outcome["status"] for outcome in run.results["outcomes"]} == {"scored"}
    (dialogue,) = run.results["dialogues"]
    assert (dialogue["n"], dialogue["n_complete"], dialogue["mean"], dialogue["whole"]) == (2, 2, 1.0, 1.0)
    assert [(each["round"], each["n"], each["mean"]) for each in dialogue["rounds"]] == [
        ("1", 2, 1.0),
        ("2", 2, 1.0),
        ("3", 1, 1.0),
    ]
    run.said("conversations - *", "test_talk *accuracy *2 *1.00 *1.00 of 2 *1.00 (2) *1.00 (2)")


def test_the_order_of_tests_and_a_selection_change_no_answer(project: Project) -> None:
    rows = turns("d", "a", "b", "c")
    write_project(project, *reversed(rows))
    run = project.run()
    assert run.outcomes["d.3"]["answer"]["text"] == "c < b < a"
    assert sorted(asked_questions(project)) == ["a", "b", "c"]
    (project.path / "asked.txt").unlink()
    selected = project.run("-k", "d.3")
    assert selected.outcomes["d.3"]["answer"] == {
        **run.outcomes["d.3"]["answer"],
        "usage": selected.outcomes["d.3"]["answer"]["usage"],
    }
    assert asked_questions(project) == ["a", "b", "c"]


def test_a_failed_turn_makes_later_turns_errors(project: Project) -> None:
    write_project(project, *turns("d", "a", "fail", "c"), *turns("e", "x", "y"))
    run = project.run("-v")
    assert run.statuses == {"d.1": "scored", "d.2": "error", "d.3": "error", "e.1": "scored", "e.2": "scored"}
    error = run.outcomes["d.3"]["error"]
    assert "out of order" in error
    assert error.endswith("(asked as the turn 'd.2', which comes before)")
    assert run.results["dialogues"][0]["n_complete"] == 1
    run.said("test_talk *accuracy *2 *1.00 *1.00 of 1 *")


def test_a_rerun_asks_again_and_the_body_reads_the_history(project: Project) -> None:
    test = TEST.replace("...", "assert [turn.answer for turn in rag.case.instance.history] in ([], ['a'])")
    write_project(project, *turns("d", "a", "b"), test=test)
    run = project.run("--reruns", "1")
    assert run.status == 0
    assert asked_questions(project) == ["a", "b"]
    write_project(project, *turns("d", "a", "b"), test=TEST.replace("...", "assert rag.case.id == 'd.1'"))
    (project.path / "asked.txt").unlink()
    project.run("--reruns", "1")
    assert asked_questions(project) == ["a", "b", "b"]


def test_without_report_texts_histories_are_not_written(project: Project) -> None:
    write_project(project, *turns("d", "a", "b"))
    run = project.run("-o", "rag_report_texts=false")
    assert "history" not in run.outcomes["d.2"]
    assert "a" not in json.dumps([outcome["answer"]["text"] for outcome in run.results["outcomes"]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"round": "first"}, "cases.jsonl:2: round: found 'first', wanted a number from 1, because history is 'own'"),
        ({"round": 1}, "cases.jsonl:2: round 1 of dialogue 'd' is already 'd.1', wanted each once"),
        ({"round": 3}, "cases.jsonl:2: round 3 of dialogue 'd' has no round 2 before it, which history 'own' needs"),
    ],
    ids=["word", "twice", "gap"],
)
def test_rounds_with_gaps_or_duplicates_are_refused(project: Project, change: Row, message: str) -> None:
    first, second = turns("d", "a", "b")
    write_project(project, first, second | change)
    run = project.run()
    assert run.status == 4
    assert message in run.result.stderr.str()


def test_own_history_without_conversations_is_refused(project: Project) -> None:
    write_project(project, {"id": "q", "question": "a", "answers": ["a"]})
    run = project.run()
    assert run.status == 4
    assert "history 'own' has no effect: no record has the facets dialogue and round" in run.result.stderr.str()


MOODY = """
    import random, pytest

    @pytest.fixture(scope="session")
    def rag_system():
        def answer(query):
            with open("asked.txt", "a") as file:
                file.write(query.question + "\\n")
            return f"{query.question} {random.SystemRandom().random()}"
        return answer
"""


@pytest.mark.parametrize("conftest", [MOODY, MOODY.replace("def answer", "async def answer")], ids=["sync", "async"])
def test_turns_use_the_scored_history_across_workers(project: Project, conftest: str) -> None:
    names = [f"d{at}" for at in range(4)]
    rows = [row for name in names for row in turns(name, *(f"{name}{at}" for at in range(5)))]
    write_project(project, *rows, conftest=conftest, test=TEST.replace('gates=["accuracy >= 0.5"]', "limit=20"))
    run = project.run("-n2", "--dist", "load")
    assert sorted(asked_questions(project)) == sorted(row["question"] for row in rows)
    answers = {name: outcome["answer"]["text"] for name, outcome in run.outcomes.items()}
    for name, outcome in run.outcomes.items():
        dialogue, at = name.split(".")
        history = [turn["answer"] for turn in outcome["history"]]
        assert history == [answers[f"{dialogue}.{before}"] for before in range(1, int(at))]


def test_recorded_answers_are_the_history_of_later_turns(project: Project) -> None:
    write_project(project, *turns("d", "a", "b", "c"), *turns("e", "x", "y"))
    project.data([{"id": name, "answer": f"a {name}"} for name in ("d.1", "d.2", "d.3", "e.2")], "answers.jsonl")
    run = project.run("--rag-answers", "answers.jsonl")
    assert run.outcomes["d.3"]["history"] == answered_turns("a d.1", "a d.2")
    assert run.statuses["e.2"] == "error"
    assert "no answer of system 'recorded' is recorded for 'e.1', a turn before 'e.2'" in run.outcomes["e.2"]["error"]
