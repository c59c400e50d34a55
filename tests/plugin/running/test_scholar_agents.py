"""Agents over the generated world: a scripted model answers templates that need one call."""

from __future__ import annotations

import json
from typing import Any

from support.projects.rag_project import Project, Row

import pytest_rageval.generation.plan
from pytest_rageval.cli import main

ONE_CALL = "# Knowledge understanding"
"""Heading after the templates of one call in the shipped plan."""

INI = """
    [pytest]
    rag_system = function_calling
    rag_model = script:replies.toml
    rag_environments =
        scholar: scholar; persons=cases/persons.jsonl; publications=cases/publications.jsonl
"""
TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases/auto_test.jsonl", metrics=["accuracy", "route_recall"], passages="retrieved",
              gates=["accuracy >= 1", "route_recall >= 1", "diagnosis:EM >= 1"])
    def test_it(rag): ...
"""


def rows(project: Project, name: str) -> list[Row]:
    return [json.loads(line) for line in (project.path / name).read_text(encoding="utf-8").splitlines()]


def reply(**keys: object) -> str:
    """Return a ``[[reply]]``; JSON strings and numbers are also TOML."""
    return "[[reply]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())


def arguments_of(case: Row, persons: dict[str, Row], works: dict[str, Row]) -> dict[str, str]:
    """Return the arguments of the one call: what the question names."""
    source = case["provenance"][0][0].partition(":")[2]
    if case["route"] == "searchPerson":
        return {"name": persons[source]["name"], "organization": persons[source]["organization"]}
    if case["route"] == "searchPublication":
        return {"publication_info": works[source]["title"]}
    return {"pub_id" if source in works else "person_id": source}


RESULT_TEXTS = {
    "searchPerson": '"interests": {}',
    "searchPublication": '"year": {}}}]',
    "getCoauthors": '"name": {}, "relation"',
    "getPersonInterest": "{}",
    "getPersonBasicInfo": '"organization": {}, "position"',
    "getPersonPubs": '[{{"pub_id": "{work}", "title": {}',
    "getPublication": '"venue": {}}}',
}
"""Tool -> a text that its result holds, with the answer; no other result holds it."""


def result_text(case: Row, works: dict[str, Row]) -> str:
    """Return a text of the result that has the answer."""
    golds = [slot[0] for slot in case.get("slots") or [case["answers"]]]
    value: Any = golds if case["route"] in ("searchPerson", "getPersonInterest") else golds[0]
    if case["route"] == "searchPublication":
        value = int(value)
    work = next((source["id"].partition(":")[2] for source in case["generated"]["sources"][1:]), "")
    return RESULT_TEXTS[case["route"]].format(json.dumps(value), work=work)


def test_a_scripted_model_solves_the_templates_of_one_call(project: Project) -> None:
    plan = (pytest_rageval.generation.plan.SHIPPED / "scholar.toml").read_text().partition(ONE_CALL)[0]
    project.file("plan.toml", plan.replace("n = 10\n", "n = 1\n"))
    assert main(["generate", str(project.path / "plan.toml"), "--out", str(project.path / "cases")]) == 0
    cases = rows(project, "cases/auto_test.jsonl")
    assert sorted(case["route"] for case in cases) == sorted(RESULT_TEXTS)
    persons = {person["person_id"]: person for person in rows(project, "cases/persons.jsonl")}
    works = {work["pub_id"]: work for work in rows(project, "cases/publications.jsonl")}
    replies = []
    for case in cases:
        call = reply(when=case["question"], nth=1, tool=case["route"])
        arguments = "".join(
            f"{name} = {json.dumps(value)}\n" for name, value in arguments_of(case, persons, works).items()
        )
        answer = " and ".join(slot[0] for slot in case.get("slots") or [case["answers"]])
        replies += [f"{call}[reply.arguments]\n{arguments}", reply(when=result_text(case, works), nth=2, text=answer)]
    project.file("replies.toml", "\n".join(replies))
    project.file("pytest.ini", INI)
    project.file("test_it.py", TEST)
    run = project.run()
    assert run.status == 0, run.text
    assert len(run.outcomes) == 7
    for outcome in run.outcomes.values():
        (call,) = [step["detail"] for step in outcome["answer"]["trace"] if step["kind"] == "tool"]
        assert call["name"] == outcome["facets"]["route"]
        assert "error" not in call
