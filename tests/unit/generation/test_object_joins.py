"""Joins over a field of the objects in a column."""

from __future__ import annotations

import json

from support.projects.plan_project import PlanProject

TABLE = '[[table]]\npath = "people.jsonl"\nkey = "id"\npassage = "{id} works in {city}."\n'
PEOPLE = (
    {"id": "ann", "city": "Oslo", "knows": [{"who": "bo", "since": 2001}, {"who": "cy"}, {"since": 1999}]},
    {"id": "bo", "city": "Bergen", "knows": [{"who": "ann"}]},
    {"id": "cy", "city": "Tromso", "knows": []},
)  # fmt: skip


def plan_with_join(project: PlanProject, via: str) -> PlanProject:
    project.write("people.jsonl", "".join(f"{json.dumps(row)}\n" for row in PEOPLE))
    keys = f'table = "people"\nvia = "{via}"\nall = true\n'
    project.plan(f'{keys}ask = "Where do the people work that {{id}} knows?"\nanswer = "{{city}}"', table=TABLE)
    return project


def test_each_object_leads_to_a_row(project: PlanProject) -> None:
    assert plan_with_join(project, "people.knows.who -> people.id").run()[0] == 0
    assert project.drafts() == [
        ("", "Where do the people work that ann knows?", [["Bergen"], ["Tromso"]]),
        ("", "Where do the people work that bo knows?", [["Oslo"]]),
    ]
    sources = {each["question"]: [source["id"] for source in each["sources"]] for each in project.lines("drafts.jsonl")}
    assert sources["Where do the people work that ann knows?"] == ["people:ann", "people:bo", "people:cy"]


def test_an_unknown_column_is_refused_with_its_line(project: PlanProject) -> None:
    line = plan_with_join(project, "people.friends.who -> people.id").refusal()
    assert "plan.toml:7: via: 'friends' is not a column of 'people'" in line
