"""The invented scholar world: its relations agree, and one more person changes nobody else."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.projects.plan_project import PlanProject

from pytest_rageval.cli import main
from pytest_rageval.environments.scholar.records import read_scholars
from pytest_rageval.environments.scholar.tools import ScholarTools
from pytest_rageval.environments.tool import Tool, ToolResult
from pytest_rageval.generation.plan import SHIPPED, read_plan
from pytest_rageval.generation.scholar.people import scholar
from pytest_rageval.generation.scholar.words import FIELDS, POSITIONS, SURNAME_ENDS, SURNAME_STARTS
from pytest_rageval.generation.scholar.world import World, make_world
from pytest_rageval.generation.templates.template import templates_of

OPPOSITE = {"advisor": "student", "student": "advisor", "colleague": "colleague", "collaborator": "collaborator"}
PLAN = SHIPPED / "scholar.toml"


def check_relations(world: World) -> None:
    persons = {person["person_id"]: person for person in world.persons}
    works = {work["pub_id"]: work for work in world.publications}
    assert (len(persons), len(works)) == (len(world.persons), len(world.publications)), "ids are unique"
    assert len({person["name"] for person in world.persons}) == len(persons)
    assert len({work["title"] for work in world.publications}) == len(works)
    for name, person in persons.items():
        publications = [works[each] for each in person["publications"]]
        assert person["num_pubs"] == len(set(person["publications"])) == len(publications)
        assert person["num_citation"] == sum(work["num_citation"] for work in publications)
        coauthors = {author.get("person_id") for work in publications for author in work["authors"]} - {name, None}
        assert {other["person_id"] for other in person["coauthors"]} == coauthors
        for other in person["coauthors"]:
            (back,) = [each for each in persons[other["person_id"]]["coauthors"] if each["person_id"] == name]
            assert back["relation"] == OPPOSITE[other["relation"]]
            assert other["name"] == persons[other["person_id"]]["name"]
            colleagues = person["organization"] == persons[other["person_id"]]["organization"]
            assert colleagues is (other["relation"] != "collaborator")
    for name, work in works.items():
        authors = [author["person_id"] for author in work["authors"] if "person_id" in author]
        assert authors == list(dict.fromkeys(authors))
        assert all(name in persons[author]["publications"] for author in authors)
        assert work["title"] not in work["abstract"]


def by_id(world: World) -> dict[str, Any]:
    return {person["person_id"]: person for person in world.persons}


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 5), st.integers(1, 40), st.integers(1, 120))
def test_relations_agree_in_any_world(seed: int, persons: int, publications: int) -> None:
    world = make_world(seed, persons, publications)
    assert (len(world.persons), len(world.publications)) == (persons, publications)
    check_relations(world)


def test_the_relations_of_a_large_world_agree() -> None:
    check_relations(make_world(0, 2_000, 6_000))


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 5), st.integers(1, 150))
def test_one_more_person_changes_nobody_else(seed: int, publications: int) -> None:
    persons = 3 + publications // 5
    before, after = make_world(seed, persons, publications), make_world(seed, persons + 1, publications)
    assert after.persons[:-1] == before.persons
    newcomer = after.persons[-1]
    for one, other in zip(before.publications, after.publications, strict=True):
        authors = [
            {"name": each["name"]} if each.get("person_id") == newcomer["person_id"] else each
            for each in other["authors"]
        ]
        assert {**other, "authors": authors} == one


def test_each_hundred_persons_have_the_positions_of_r_eval() -> None:
    world = make_world(3, 300, 10)
    for start in (0, 100, 200):
        assert Counter(person["position"] for person in world.persons[start : start + 100]) == POSITIONS
    assert sum(POSITIONS.values()) == 100


def test_consecutive_persons_cover_all_fields() -> None:
    world = make_world(0, 60, 10)
    assert Counter(world.fields) == dict.fromkeys(FIELDS, 6)
    for person, field in zip(world.persons, world.fields, strict=True):
        assert len(set(person["interests"]) & set(FIELDS[field])) >= 2


def test_names_stay_unique_after_all_surnames_are_used() -> None:
    surnames = len({start + end for start in SURNAME_STARTS for end in SURNAME_ENDS})
    assert surnames == len(SURNAME_STARTS) * len(SURNAME_ENDS)
    first = [scholar(0, number).name.split()[-1] for number in range(surnames)]
    assert len(set(first)) == surnames
    same = [scholar(0, number).name for number in range(5, 100 * surnames, surnames)]
    assert {name.split()[-1] for name in same} == {first[5]}
    assert len(set(same)) == len(same)
    assert {len(name.split()) for name in same} == {2, 3}


def generate_kept_drafts(
    project: PlanProject, persons: int, *templates: str, folder: str = "out"
) -> list[dict[str, Any]]:
    """Generate from a world; return the kept drafts."""
    head = f'[[world]]\nkind = "scholar"\npersons = {persons}\npublications = 300\n'
    project.plan(*templates, table=head)
    assert project.run("--out", folder)[0] == 0
    lines = (project.folder / folder / "drafts.jsonl").read_text().splitlines()
    return [draft for draft in map(json.loads, lines) if draft["state"] == "kept"]


INTERESTS = """\
table = "persons"
ask = ["What are the research interests of {name} at {organization}?"]
answer = "{interests}"
level = "knowledge_seeking"
unique = ["name", "organization"]
where = "num_pubs >= 3"
route = "searchPerson > getPersonInterest"
n = 20
"""
CITED = """\
table = "persons"
ask = ["How often was the most cited publication of {name} cited?"]
answer = "{publications|max(num_citation).num_citation}"
level = "knowledge_application"
balance = { field = "position", Professor = 10, Researcher = 7, Other = 8 }
"""
EVERYBODY = """\
table = "persons"
ask = "Where does {name} work?"
answer = "{organization}"
"""


def test_a_world_adds_two_tables_two_files_and_a_corpus(project: PlanProject) -> None:
    drafts = generate_kept_drafts(project, 90, INTERESTS, CITED)
    assert len(drafts) == 45
    assert {draft["facets"].get("route") for draft in drafts} == {"searchPerson > getPersonInterest", None}
    folder = project.folder / "out"
    scholars = read_scholars(folder / "persons.jsonl", folder / "publications.jsonl")
    assert (len(scholars.persons), len(scholars.publications)) == (90, 300)
    corpus = project.lines("corpus.jsonl")
    assert [each["id"].partition(":")[0] for each in corpus] == ["persons"] * 90 + ["publications"] * 300
    record = project.lines("auto_test.jsonl")[0]
    assert record["topic"] in FIELDS
    assert record["provenance"] == [[source["id"] for source in record["generated"]["sources"]]]


def test_the_same_plan_gives_the_same_bytes_and_a_new_person_adds_one_case(project: PlanProject) -> None:
    templates = (INTERESTS, CITED, EVERYBODY)
    before = generate_kept_drafts(project, 90, *templates)
    files = {path.name: path.read_bytes() for path in (project.folder / "out").iterdir()}
    assert generate_kept_drafts(project, 90, *templates, folder="again") == before
    assert {path.name: path.read_bytes() for path in (project.folder / "again").iterdir()} == files
    after = generate_kept_drafts(project, 91, *templates, folder="more")
    assert len(after) == len(before) + 1
    origin = {draft["id"]: draft for draft in after}
    assert all(origin[draft["id"]] == draft for draft in before)


@pytest.mark.parametrize(
    ("world", "expected"),
    [
        ("[[world]]\npersons = 3\n", "plan.toml:1: [world] kind is missing"),
        ('[[world]]\nkind = "scholars"\n', "plan.toml:2: kind: unknown value 'scholars'; did you mean 'scholar'?"),
        (
            '[[world]]\nkind = "scholar"\npersons = 0\n',
            "plan.toml:3: [world] persons: found 0, wanted a whole number of 1",
        ),
        ('[[world]]\nkind = "scholar"\npeople = 3\n', "plan.toml:3: unknown key 'people' in [world]; "),
        ('[[world]]\nkind = "scholar"\n[[world]]\nkind = "scholar"\n', "plan.toml:4: [[world]] is duplicate"),
        ('[world]\nkind = "scholar"\n', "plan.toml:1: world: found an object, wanted tables with the header [[world]]"),
    ],
)
def test_an_invalid_world_is_refused(project: PlanProject, world: str, expected: str) -> None:
    project.plan(EVERYBODY, table=world)
    assert expected in project.refusal()


def test_a_folder_with_other_persons_is_refused_and_not_changed(project: PlanProject) -> None:
    (project.folder / "out").mkdir()
    project.write("out/persons.jsonl", "mine")
    project.plan(EVERYBODY, table='[[world]]\nkind = "scholar"\n')
    assert "--out out holds persons.jsonl, which another plan" in project.refusal()
    assert (project.folder / "out/persons.jsonl").read_text() == "mine"


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the shipped plan."""
    folder = tmp_path_factory.mktemp("shipped") / "cases"
    assert main(["generate", "scholar", "--out", str(folder)]) == 0
    return folder


def records(folder: Path, name: str = "auto_test.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]


def test_the_shipped_plan_has_the_shape_of_the_academic_tasks(shipped: Path) -> None:
    templates = templates_of(read_plan(PLAN))
    levels = [
        (template.level.removeprefix("knowledge_"), "several" if ">" in template.route else "one")
        for template in templates
    ]
    assert Counter(levels) == {("seeking", "one"): 7, ("understanding", "several"): 4, ("application", "several"): 12}
    scholars = read_scholars(shipped / "persons.jsonl", shipped / "publications.jsonl")
    tools = [tool.name for tool in ScholarTools(scholars).tools]
    assert sorted(template.route for template in templates if ">" not in template.route) == sorted(tools)
    assert all(name.strip() in tools for template in templates for name in template.route.split(">"))
    cases = records(shipped)
    assert len(cases) == 320, "every n and every balance is reached"
    assert Counter(case["topic"] for case in cases).keys() == set(FIELDS)


def test_the_shipped_plan_has_the_positions_of_r_eval(shipped: Path) -> None:
    profiling = [case for case in records(shipped) if case["question"].startswith("Which position does")]
    assert Counter(case["answers"][0] for case in profiling) == {
        "Professor": 20, "Other": 16, "Researcher": 14, "Associate Professor": 14, "Assistant Professor": 10,
        "Engineer": 10, "Lecturer": 6, "Associate Researcher": 3, "Ph.D": 3, "Senior Engineer": 2,
        "Assistant Researcher": 2,
    }  # fmt: skip


PUBLICATION_TOOLS = ("searchPublication", "getPublication")
SEARCH_FIELDS = {"searchPerson": ("name", "name"), "searchPublication": ("publication_info", "title")}


def replay_route(tools: Mapping[str, Tool], case: Mapping[str, Any], rows: Mapping[str, Any]) -> str:
    """Return the results of all calls of a case's route, for the persons and publications in its provenance."""
    results = []
    for name in dict.fromkeys(case["route"].split(" > ")):
        ids = [
            source
            for source in case["provenance"][0]
            if source.startswith("publications") is (name in PUBLICATION_TOOLS)
        ]
        parameter, column = SEARCH_FIELDS.get(
            name, ("pub_id", "pub_id") if name in PUBLICATION_TOOLS else ("person_id", "person_id")
        )
        for each in ids:
            result = tools[name].call(**{parameter: rows[each][column]})
            results.append(result.result if isinstance(result, ToolResult) else result)
    return json.dumps(results, ensure_ascii=False)


def test_the_tool_calls_of_the_route_return_the_gold_answer(shipped: Path) -> None:
    scholars = read_scholars(shipped / "persons.jsonl", shipped / "publications.jsonl")
    tools = {tool.name: tool for tool in ScholarTools(scholars).tools}
    rows = {f"persons:{name}": person.values for name, person in scholars.persons.items()}
    rows |= {f"publications:{name}": work.values for name, work in scholars.publications.items()}
    for case in records(shipped):
        golds = [slot[0] for slot in case.get("slots") or [case["answers"]]]
        if case["question"].startswith("How many coauthors"):
            (person,) = case["provenance"][0]
            assert golds == [str(len(tools["getCoauthors"].call(person_id=rows[person]["person_id"])))]
            continue
        tool_results = replay_route(tools, case, rows)
        assert [gold for gold in golds if gold not in tool_results] == [], case["question"]


def test_lint_finds_nothing_in_the_shipped_cases(
    shipped: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(shipped)
    assert main(["lint", "jsonl:auto_test.jsonl", "--corpus", "corpus.jsonl"]) == 0
    assert capsys.readouterr().out.startswith("Nothing found.")


def test_the_error_for_an_unknown_plan_names_the_shipped_plans(
    project: PlanProject, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["generate", "scholars", "--out", "out"]) == 2
    assert "or name a shipped plan: scholar" in capsys.readouterr().err
