"""R-Eval files as a dataset: levels as markers, metrics, and agents in both domains."""

from __future__ import annotations

import pytest
from support.projects.rag_project import Project, Row
from support.projects.refused_projects import refused
from support.projects.seeker_project import seeker_project

WIKI: Row = {
    "input": "When was Algiers made?", "outputs": ["1938"], "input_length": 4, "output_length": 1.0, "language": "en",
    "environment": "wiki", "dataset": "hotpotqa", "_id": "w1",
}  # fmt: skip
AMINER: Row = {
    "input": "What does Ann Lee work on?", "outputs": ["['AI', 'ML']"], "language": "en", "environment": "aminer",
    "dataset": "soay_easy", "_id": "s1",
}  # fmt: skip
LABEL: Row = {**AMINER, "input": "What is Bo Ek?", "outputs": ["Professor"], "dataset": "profiling", "_id": "p1"}

TEST = """
    from pytest_rageval import rag_case

    @rag_case("reval:season", gates=["hotpot_f1[level=*] >= 0.6"])
    def test_it(rag): ...
"""
SCRIPT = """
    [[reply]]
    text = "1938"
"""
MODEL = "rag_model = script:replies.toml"


def season(project: Project, *rows: Row) -> None:
    """Write the folder of a season, and an agent whose model always gives the same answer."""
    seeker_project(project, [], TEST, MODEL)
    project.file("replies.toml", SCRIPT)
    names = {"w1": "3-1_hotpotqa.jsonl", "s1": "1-3_soay_easy.jsonl", "p1": "2-4_profiling.jsonl"}
    for row in rows:
        project.data([row], f"season/{names[row['_id']]}")


def test_recorded_answers_to_both_domains_are_scored_by_level(project: Project) -> None:
    season(project, WIKI, AMINER, LABEL)
    project.file("season/readme.txt", "notes")
    answers = {"w1": "in 1938", "s1": "['ML', 'AI']", "p1": "Associate Professor"}
    project.data([{"id": name, "answer": text} for name, text in answers.items()], "answers.jsonl")
    run = project.run("--rag-answers", "answers.jsonl", "--rag-rows", "level", "--rag-cols", "domain")
    assert run.status == 0, run.text
    scores_by_case = {name: outcome["scores"].items() for name, outcome in run.outcomes.items()}
    assert {name: {key: score["value"] for key, score in scores} for name, scores in scores_by_case.items()} == {
        "w1": {"hotpot_f1": pytest.approx(2 / 3), "exact_match": 0.0},
        "s1": {"hotpot_f1": 1.0, "exact_match": 0.0},
        "p1": {"hotpot_f1": pytest.approx(2 / 3), "exact_match": 0.0},
    }
    assert run.results["matrix"]["metric"] == "hotpot_f1"
    assert run.results["matrix"]["rows"] == ["knowledge_application", "knowledge_seeking", "knowledge_understanding"]
    run.said("*reval:season: 1 file is not read: season/readme.txt (its name is not <id>_<dataset>.jsonl)*")
    selected = project.run("--rag-answers", "answers.jsonl", "--strict-markers", "-m", "knowledge_understanding")
    assert selected.statuses == {"p1": "scored"}
    labelled = project.run("--rag-answers", "answers.jsonl", "-m", "rag(gold_kind='label', task_id='2-4')")
    assert labelled.statuses == {"p1": "scored"}


def test_an_agent_answers_wiki_and_has_no_environment_for_aminer(project: Project) -> None:
    season(project, WIKI)
    run = project.run("--rag-system", "seeker")
    assert (run.status, run.outcomes["w1"]["scores"]["hotpot_f1"]["value"]) == (0, 1.0), run.text
    season(project, WIKI, AMINER)
    expected = "season/1-3_soay_easy.jsonl:1: unknown environment 'scholar'; known: wiki"
    assert refused(project, "--rag-system", "seeker") == expected
    run = project.run("--rag-system", "llm", "--rag-gate", "n >= 2")
    assert set(run.statuses.values()) == {"scored"}, "a system without tools needs no environment"
    project.file("pytest.ini", f"[pytest]\n{MODEL}\n")
    expected = "season/1-3_soay_easy.jsonl:1: the system needs the environment 'scholar'; set rag_corpus or "
    assert refused(project, "--rag-system", "seeker") == expected + "rag_environments in the ini"


PERSON: Row = {
    "person_id": "p1", "name": "Ann Lee", "organization": "Norhaven", "interests": ["AI", "ML"], "num_citation": 3,
    "publications": ["w1"],
}  # fmt: skip
WORK: Row = {"pub_id": "w1", "title": "On Salt", "num_citation": 3, "authors": [{"name": "Ann Lee", "person_id": "p1"}]}
SCHOLAR = "rag_environments =\n    scholar: scholar; persons=persons.jsonl; publications=publications.jsonl\n"
CALLS = """
    [[reply]]
    nth = 1
    tool = "searchPerson"
    arguments = { name = "Ann Lee" }

    [[reply]]
    when = '"interests": ["AI", "ML"]'
    text = "['AI', 'ML']"
"""


def scholar_season(project: Project, person: Row) -> None:
    season(project, AMINER)
    project.data([person], "persons.jsonl")
    project.data([WORK], "publications.jsonl")
    project.file("replies.toml", CALLS)
    project.file("pytest.ini", f"[pytest]\n{MODEL}\n{SCHOLAR}")


def test_an_agent_answers_aminer_over_the_environment_scholar(project: Project) -> None:
    scholar_season(project, PERSON)
    run = project.run("--rag-system", "function_calling")
    assert (run.status, run.outcomes["s1"]["scores"]["hotpot_f1"]["value"]) == (0, 1.0), run.text
    calls = [step["detail"] for step in run.outcomes["s1"]["answer"]["trace"] if step["kind"] == "tool"]
    assert [(call["name"], call["arguments"], call["found"]) for call in calls] == [
        ("searchPerson", {"name": "Ann Lee"}, True)
    ]


def test_invalid_persons_of_an_environment_end_the_session(project: Project) -> None:
    scholar_season(project, PERSON | {"publications": ["w9"]})
    expected = "persons.jsonl:1: publications: publications.jsonl has no record with the id 'w9'; correct the id"
    assert refused(project, "--rag-system", "function_calling").startswith(expected)
    project.file("pytest.ini", f"[pytest]\n{MODEL}\nrag_environments = scholar: scholar; persons=people.jsonl\n")
    expected = "rag_environments: scholar has persons=people.jsonl: no such file; the path is relative to the ini file"
    assert refused(project, "--rag-system", "function_calling") == expected


def test_the_metrics_of_the_test_have_priority(project: Project) -> None:
    season(project, WIKI)
    test = TEST.replace('"reval:season", gates=["hotpot_f1[level=*] >= 0.6"]', '"reval:season", metrics=["has_answer"]')
    project.file("test_it.py", test)
    assert list(project.run().outcomes["w1"]["scores"]) == ["has_answer"]
