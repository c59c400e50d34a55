"""The environment `scholar`: seven calls over persons and publications."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.component_options import ComponentOptions
from pytest_rageval.environments.environment import Environment, OpenEnvironment
from pytest_rageval.environments.parts import EnvironmentParts
from pytest_rageval.environments.scholar.kind import build
from pytest_rageval.environments.scholar.records import read_scholars
from pytest_rageval.environments.scholar.tools import ScholarTools
from pytest_rageval.environments.tool import Observation
from pytest_rageval.errors import DataError, SettingError

Row = dict[str, Any]

ANN: Row = {
    "person_id": "p1", "name": "Ann Lee-Moor", "organization": "University of Norhaven",
    "interests": [f"topic {number}" for number in range(12)], "num_citation": 7, "num_pubs": 12, "gender": "female",
    "position": "Professor", "bio": "She digs.", "education_experience": "Ph.D., 1999", "email": "ann@norhaven.example",
    "coauthors": [{"person_id": "p2", "relation": "colleague"}, {"person_id": "3"}],
    "publications": [f"w{number:02}" for number in range(12)], "orcid": "0000", "awards": ["Prize"],
}  # fmt: skip
BO: Row = {
    "person_id": "p2", "name": "Bo Eck", "organization": "Academy of Tarn", "interests": ["Soil Chemistry"],
    "num_citation": 9,
}  # fmt: skip
LI: Row = {"person_id": 3, "name": "李小明", "organization": "北方大学", "interests": None, "num_citation": 7}
WORKS: list[Row] = [
    {
        "pub_id": f"w{number:02}", "title": f"Notes on Salt, Part {number}", "year": 2000 + number,
        "num_citation": number % 5, "authors": [{"name": "Ann Lee-Moor", "person_id": "p1"}, {"name": "Cy Outsider"}],
    }
    for number in range(12)
]  # fmt: skip
WORKS[0] |= {"abstract": "Salt.", "venue": "Salt Letters", "doi": "10.1/x"}


def write_records(folder: Path, persons: list[Row], works: list[Row]) -> tuple[Path, Path]:
    paths = folder / "persons.jsonl", folder / "publications.jsonl"
    for path, rows in zip(paths, (persons, works), strict=True):
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return paths


@pytest.fixture
def scholar(tmp_path: Path) -> OpenEnvironment:
    tools = ScholarTools(read_scholars(*write_records(tmp_path, [ANN, BO, LI], WORKS))).tools
    return Environment("scholar", lambda: lambda: tools).open()


def call_tool(scholar: OpenEnvironment, tool: str, **arguments: Any) -> Observation:
    return asyncio.run(scholar.run(tool, arguments))


def result_of(scholar: OpenEnvironment, tool: str, **arguments: Any) -> Any:
    observation = call_tool(scholar, tool, **arguments)
    assert observation.error is None, observation.error
    assert json.loads(observation.text) == observation.result, "the observation is JSON"
    return observation.result


def ids(scholar: OpenEnvironment, **arguments: Any) -> list[str]:
    return [row["person_id"] for row in result_of(scholar, "searchPerson", **arguments)]


def test_there_are_seven_tools_with_their_parameters(scholar: OpenEnvironment) -> None:
    assert {tool.name: list(tool.parameters["properties"]) for tool in scholar.tools} == {
        "searchPerson": ["name", "organization", "interest"],
        "searchPublication": ["publication_info"],
        "getCoauthors": ["person_id"],
        "getPersonInterest": ["person_id"],
        "getPersonBasicInfo": ["person_id"],
        "getPersonPubs": ["person_id"],
        "getPublication": ["pub_id"],
    }


def test_a_found_person_has_six_keys_in_order_and_ten_interests(scholar: OpenEnvironment) -> None:
    (row,) = result_of(scholar, "searchPerson", name="ann lee moor", organization="norhaven")
    assert list(row.items()) == [
        ("person_id", "p1"), ("name", "Ann Lee-Moor"), ("organization", "University of Norhaven"),
        ("interests", ANN["interests"][:10]), ("num_citation", 7), ("num_pubs", 12),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"name": "Ann"}, ["p1"]),
        ({"name": "lee ＡＮＮ"}, ["p1"]),
        ({"name": "Ann Lee-Mor"}, ["p1"]),
        ({"name": "Dr. Bo Eck"}, ["p2"]),
        ({"name": "An"}, []),
        ({"name": "Ann Smith"}, []),
        ({"name": "Ann", "organization": "Tarn"}, []),
        ({"name": "Ann", "organization": " ", "interest": ""}, ["p1"]),
        ({"interest": "chemistry"}, ["p2"]),
        ({"interest": "topic 11"}, ["p1"]),
        ({"interest": "topic soil"}, []),
        ({"name": "小明"}, ["3"]),
        ({"organization": "北方"}, ["3"]),
        ({"name": "!?"}, []),
        ({"name": "\ud800"}, []),
    ],
)
def test_a_field_matches_if_all_its_words_match_approximately(
    scholar: OpenEnvironment, arguments: Mapping[str, str], expected: list[str]
) -> None:
    observation = call_tool(scholar, "searchPerson", **arguments)
    assert [row["person_id"] for row in observation.result] == expected
    assert observation.found is bool(expected)


@pytest.mark.parametrize("query", ["Bo Eck " * 140_000, "a b c " * 170_000, "x" * 1_000_000, "\0" * 1_000_000])
def test_a_long_query_is_fast(scholar: OpenEnvironment, query: str) -> None:
    start = time.process_time()
    assert [row["person_id"] for row in call_tool(scholar, "searchPerson", name=query).result] == ["p2"] * (
        "Bo" in query
    )
    assert time.process_time() - start < 5


def test_a_search_needs_a_field(scholar: OpenEnvironment) -> None:
    for arguments in ({}, {"name": " "}):
        observation = call_tool(scholar, "searchPerson", **arguments)
        assert (observation.invalid, observation.text) == (
            True, "searchPerson needs name, organization or interest.",
        )  # fmt: skip
    assert call_tool(scholar, "searchPublication", publication_info="").invalid


def test_ten_persons_are_listed_by_citations_and_id(tmp_path: Path) -> None:
    persons = [{"person_id": f"q{n:02}", "name": "Ann Lee", "num_citation": n // 2} for n in range(12)]
    persons.append({"person_id": "q99", "name": "Ann Lee"})
    tools = ScholarTools(
        read_scholars(*write_records(tmp_path, persons, WORKS[:1] and [{"pub_id": 1, "title": "T"}]))
    ).tools
    scholar = Environment("scholar", lambda: lambda: tools).open()
    expected = ["q10", "q11", "q08", "q09", "q06", "q07", "q04", "q05", "q02", "q03"]
    assert ids(scholar, name="Ann Lee") == expected


def test_publications_are_found_by_words_of_their_title(scholar: OpenEnvironment) -> None:
    publications = result_of(scholar, "searchPublication", publication_info="salt notes")
    assert [row["pub_id"] for row in publications] == [
        "w04",
        "w09",
        "w03",
        "w08",
        "w02",
        "w07",
        "w01",
        "w06",
        "w11",
        "w00",
    ]
    assert publications[0] == {"pub_id": "w04", "title": "Notes on Salt, Part 4", "year": 2004}
    assert result_of(scholar, "searchPublication", publication_info="notes on salt part 11")[0]["pub_id"] == "w11"
    assert call_tool(scholar, "searchPublication", publication_info="pepper").found is False


def test_detail_calls_return_the_stored_fields(scholar: OpenEnvironment) -> None:
    assert result_of(scholar, "getCoauthors", person_id="p1") == [
        {"person_id": "p2", "name": "Bo Eck", "relation": "colleague"},
        {"person_id": "3", "name": "李小明", "relation": None},
    ]
    assert result_of(scholar, "getPersonInterest", person_id="p1") == ANN["interests"]
    assert result_of(scholar, "getPersonInterest", person_id=" 3 ") == []
    basic = result_of(scholar, "getPersonBasicInfo", person_id="p1")
    assert list(basic) == [
        "person_id", "name", "gender", "organization", "position", "bio", "education_experience", "email", "orcid",
        "awards",
    ]  # fmt: skip
    assert basic["awards"] == ["Prize"]
    assert result_of(scholar, "getPersonBasicInfo", person_id="p2")["email"] is None
    pubs = result_of(scholar, "getPersonPubs", person_id="p1")
    assert [each["pub_id"] for each in pubs] == ["w04", "w09", "w03", "w08", "w02", "w07", "w01", "w06", "w11", "w00"]
    assert pubs[0] == {
        "pub_id": "w04", "title": "Notes on Salt, Part 4", "num_citation": 4, "year": 2004,
        "authors_name_list": ["Ann Lee-Moor", "Cy Outsider"],
    }  # fmt: skip
    work = result_of(scholar, "getPublication", pub_id="w00")
    assert list(work) == ["pub_id", "title", "abstract", "authors", "num_citation", "year", "venue", "doi"]
    assert work["authors"] == WORKS[0]["authors"]


def test_an_unknown_id_is_an_error_of_the_tool(scholar: OpenEnvironment) -> None:
    for tool in ("getCoauthors", "getPersonInterest", "getPersonBasicInfo", "getPersonPubs"):
        assert call_tool(scholar, tool, person_id="px").text == "Error: LookupError: no person with the id px"
    assert call_tool(scholar, "getPublication", pub_id="p1").text == "Error: LookupError: no publication with the id p1"


@pytest.mark.parametrize(
    ("persons", "works", "expected"),
    [
        ([ANN | {"publications": ["w99"]}, BO, LI], WORKS, "persons.jsonl:1: publications: .*'w99'"),
        ([ANN, BO | {"coauthors": [{"person_id": "p9"}]}, LI], WORKS, "persons.jsonl:2: coauthors: .*'p9'"),
        ([ANN, BO], WORKS, "persons.jsonl:1: coauthors: .*'3'"),
        ([ANN, BO, LI], [*WORKS, {"pub_id": "x", "title": "T", "authors": [{"name": "N", "person_id": "p9"}]}],
         "publications.jsonl:13: authors: .*persons.jsonl has no record with the id 'p9'"),
        ([ANN, BO, LI, BO], WORKS, "persons.jsonl:4: the person_id 'p2' is already in line 2"),
        ([ANN, BO, LI], [*WORKS, WORKS[0]], "publications.jsonl:13: the pub_id 'w00' is already in line 1"),
        ([{"person_id": "p1"}], WORKS, "persons.jsonl:1: the field name is missing"),
        ([ANN | {"interests": "AI"}, BO, LI], WORKS, "persons.jsonl:1: interests: found 'AI', wanted a list"),
        ([ANN | {"num_citation": -1}, BO, LI], WORKS, "persons.jsonl:1: num_citation: "),
        ([ANN | {"coauthors": ["p2"]}, BO, LI], WORKS, r"persons.jsonl:1: coauthors\[0\]: "),
        ([ANN | {"publications": [None]}, BO, LI], WORKS, r"persons.jsonl:1: publications\[0\]: found null"),
        ([ANN, BO, LI], [{"pub_id": "w00"}], "publications.jsonl:1: the field title is missing"),
    ],
)  # fmt: skip
def test_bad_data_is_refused_with_its_line(tmp_path: Path, persons: list[Row], works: list[Row], expected: str) -> None:
    with pytest.raises(DataError, match=expected):
        read_scholars(*write_records(tmp_path, persons, works))


def parts(folder: Path, **options: str) -> EnvironmentParts:
    where = "rag_environments: scholar"
    return EnvironmentParts("scholar", "scholar", where, ComponentOptions(options, where), None, folder=folder)  # type: ignore[arg-type]


def test_options_name_the_files(tmp_path: Path) -> None:
    write_records(tmp_path, [BO], [{"pub_id": 1, "title": "T"}])
    environment = build(parts(tmp_path, persons="persons.jsonl", publications="publications.jsonl", timeout="3"))
    assert (environment.timeout, environment.record, environment.has_state) == (3, False, False)
    assert ids(environment.open(), name="Bo") == ["p2"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "scholar has no persons; add persons=FILE.jsonl"),
        ({"persons": "persons.jsonl"}, "scholar has no publications; add"),
        ({"persons": "people.jsonl"}, "scholar has persons=people.jsonl: no such file"),
        ({"persons": "persons.jsonl", "publications": "persons.jsonl", "corpus": "x"}, "unknown option 'corpus'"),
    ],
)
def test_invalid_options_are_refused(tmp_path: Path, options: dict[str, str], expected: str) -> None:
    write_records(tmp_path, [BO], [])
    with pytest.raises(SettingError, match=expected):
        build(parts(tmp_path, **options))
