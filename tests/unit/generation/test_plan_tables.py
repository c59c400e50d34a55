"""Tables of a plan: read CSV, JSON Lines and SQLite; rows become passages."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from support.projects.plan_project import TABLE, PlanProject

ASK = 'table = "staff"\nask = "Where does {name}, the {job}, work?"\nanswer = "{city}"\n'
HEADER = "name,job,city,since,boss\n"
COLUMNS = "name, job, city, since, boss"


def create_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"CREATE TABLE staff ({COLUMNS})")
        rows = [("Ann Lee", "curator", "Oslo", 2011, "Bo Ek"), ("Bo Ek", "director", "Bergen", 2004, None)]
        connection.executemany("INSERT INTO staff VALUES (?, ?, ?, ?, ?)", rows)
        connection.commit()


def test_a_repeated_key_gets_a_number_and_a_warning(project: PlanProject) -> None:
    project.plan(ASK)
    status, lines = project.run()
    assert status == 0
    assert lines[0] == "warning: plan.toml:1: 'staff' repeats a key in 1 row; repeated keys get #2 and so on"
    assert project.lines("corpus.jsonl") == [
        {"id": "staff:Ann Lee", "text": "Ann Lee works as curator in Oslo since 2011.", "title": "Ann Lee"},
        {"id": "staff:Bo Ek", "text": "Bo Ek works as director in Bergen since 2004.", "title": "Bo Ek"},
        {"id": "staff:Ann Lee#2", "text": "Ann Lee works as guard in Bergen since 2019.", "title": "Ann Lee"},
    ]


def test_csv_json_lines_and_sqlite_give_the_same_cases(project: PlanProject) -> None:
    rows = [
        {"name": "Ann Lee", "job": "curator", "city": "Oslo", "since": 2011, "boss": "Bo Ek"},
        {"name": "Bo Ek", "job": "director", "city": "Bergen", "since": 2004, "boss": None},
    ]
    project.write("staff.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    project.write("staff.json", json.dumps(rows))
    lines = ["\t".join(COLUMNS.split(", ")), *("\t".join(str(cell or "") for cell in row.values()) for row in rows)]
    project.write("staff.tsv", "\ufeff" + "\r\n".join(lines) + "\r\n")
    project.write("staff.csv", "\n".join(line.replace("\t", ",") for line in lines))
    create_database(project.folder / "staff.db")
    drafts_by_format = []
    for path in ("staff.csv", "staff.tsv", "staff.jsonl", "staff.json", "sqlite:staff.db:SELECT * FROM staff"):
        project.plan(ASK, table=TABLE.replace("staff.csv", path))
        assert project.run("--out", "out", "--force")[0] == 0
        drafts_by_format.append([{**each, "facets": {}} for each in project.lines("drafts.jsonl")])
    assert len(drafts_by_format[0]) == 2
    assert all(each == drafts_by_format[0] for each in drafts_by_format)


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM staff",
        "ATTACH 'new.db' AS other",
        "CREATE TABLE other (x)",
        "PRAGMA user_version = 3",
        "SELECT 1; DELETE FROM staff",
        "SELECT nothing FROM staff",
        "SELEC",
        "INSERT INTO staff VALUES ('x', 'x', 'x', 1, 'x') RETURNING name",
    ],
)
def test_a_query_may_only_read(project: PlanProject, query: str) -> None:
    path = project.folder / "staff.db"
    create_database(path)
    before = path.read_bytes()
    project.plan(ASK, table=f'[[table]]\nname = "staff"\npath = "sqlite:staff.db:{query}"\n')
    assert project.refusal().startswith("rageval: staff.db: the query ")
    assert path.read_bytes() == before
    assert sorted(each.name for each in project.folder.iterdir()) == ["plan.toml", "staff.csv", "staff.db"]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "SELECT one.name, other.name FROM staff one, staff other",
            "staff.db: two columns are named 'name'; name",
        ),
        (
            "SELECT name, x'ff' AS city FROM staff",
            "staff.db: row 1: 'city' holds bytes, wanted a text or a number",
        ),
    ],
)
def test_columns_that_would_lose_values_are_refused(project: PlanProject, query: str, message: str) -> None:
    create_database(project.folder / "staff.db")
    project.plan(ASK, table=f'[[table]]\nname = "staff"\npath = "sqlite:staff.db:{query}"\n')
    assert project.refusal().startswith(f"rageval: {message}")


def test_a_passage_shows_objects_as_json_and_omits_missing_items(project: PlanProject) -> None:
    row = {"name": "Ann", "job": ["cook", None, ""], "city": "Oslo", "posts": [{"title": "Über", "year": None}]}
    project.write("staff.jsonl", json.dumps(row))
    project.plan(ASK.replace("the {job}", "who cooks"), table='[[table]]\nname = "staff"\npath = "staff.jsonl"\n')
    assert project.run()[0] == 0
    text = 'name: Ann\njob: cook\ncity: Oslo\nposts: {"title": "Über", "year": null}'
    assert [each["text"] for each in project.lines("corpus.jsonl")] == [text]


def test_a_file_that_is_not_a_database_is_refused(project: PlanProject) -> None:
    project.plan(ASK, table='[[table]]\nname = "staff"\npath = "sqlite:staff.csv:SELECT * FROM staff"\n')
    assert project.refusal().startswith("rageval: staff.csv: the query cannot be run (file is not a database)")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "staff.csv:1: the file holds no row; its first row has to name the columns"),
        ("name,city\n", "plan.toml:3: the table 'staff' has no row; it needs at least one"),
        ("name,name\na,b\n", "staff.csv:1: two columns are named 'name'; name each column once"),
        ("name,\na,b\n", "staff.csv:1: a column has no name; name each column once"),
        ("name,city\na,b,c\n", "staff.csv:2: found 3 cells, wanted at most 2, as in the header"),
        ('name,city\n"a,b\n', "staff.csv:2: the row is not valid CSV"),
    ],
)
def test_a_broken_table_is_refused_with_its_line(project: PlanProject, text: str, message: str) -> None:
    project.write("staff.csv", text)
    project.plan(ASK, table='[[table]]\nname = "staff"\npath = "staff.csv"\n')
    assert project.refusal().startswith(f"rageval: {message}")


def test_a_file_of_unknown_type_is_refused(project: PlanProject) -> None:
    project.write("staff.xls", "x")
    project.plan(ASK, table=TABLE.replace("staff.csv", "staff.xls"))
    assert project.refusal().startswith("rageval: staff.xls: is not a table; name a file ending in .csv, .json, .jsonl")


def test_warnings_count_rows_without_a_value_and_name_empty_columns(project: PlanProject) -> None:
    project.write("staff.csv", HEADER + "Ann Lee,curator,,2011,\n,guard,Oslo,2000,\nBo Ek,cook,Bergen,,\n")
    project.plan(ASK)
    status, lines = project.run()
    assert status == 0
    assert lines[:3] == [
        "warning: plan.toml:1: the column 'boss' of 'staff' is empty",
        "warning: plan.toml:1: 1 row of 'staff' without the key 'name' left out",
        "warning: plan.toml:1: 2 rows of 'staff' without a value of passage, written as column: value",
    ]
    texts = {each["id"]: each["text"] for each in project.lines("corpus.jsonl")}
    assert texts["staff:Bo Ek"] == "name: Bo Ek\njob: cook\ncity: Bergen"  # without since, the passage cannot be filled


def test_a_topic_may_have_a_parent(project: PlanProject) -> None:
    project.plan(ASK, table=TABLE + 'topic = "Town/{city}"\n', head="[split]\nauto_test = 1.0\n")
    assert project.run()[0] == 0
    facets = {(each["topic_1"], each["topic"]) for each in project.lines("auto_test.jsonl")}
    assert facets == {("Town", "Oslo"), ("Town", "Bergen")}
    assert all(each["id"].startswith("town-") for each in project.lines("auto_test.jsonl"))


def test_a_chinese_table_gives_chinese_cases(project: PlanProject) -> None:
    project.write("staff.csv", "姓名,职务,城市\n李明,馆长,苏州\n王芳,讲解员,杭州\n")
    project.plan(
        'table = "staff"\nask = "{姓名}在哪个城市工作？"\nanswer = "{城市}"\nwhere = "城市 != \'杭州\'"',
        table='[[table]]\nname = "staff"\npath = "staff.csv"\npassage = "{姓名}是{职务}，在{城市}工作。"\n',
    )
    assert project.run()[0] == 0
    drafts = project.lines("drafts.jsonl")
    assert [(each["question"], each["gold"], each["language"], each["state"]) for each in drafts] == [
        ("李明在哪个城市工作？", [["苏州"]], "zh", "kept")
    ]
    assert drafts[0]["evidence"] == ["李明是馆长，在苏州工作。"]


def test_an_id_without_a_row_is_refused_with_its_line(project: PlanProject) -> None:
    project.write("staff.jsonl", '{"name": "Ann", "publications": ["w1"]}\n{"name": "Bo", "publications": ["w9"]}\n')
    project.write("works.csv", "pub_id,title\nw1,Maps\n")
    project.plan(
        'table = "staff"\nask = "What has {name} written?"\nanswer = "{publications.title}"',
        table='[[table]]\nname = "staff"\npath = "staff.jsonl"\n[[table]]\nname = "publications"\npath = "works.csv"\n',
    )
    assert project.refusal().startswith(
        "rageval: staff.jsonl:2: publications: no row of 'publications' has the pub_id 'w9'; correct the id or add"
    )


def test_ids_stay_unique_if_a_key_looks_like_a_numbered_key(project: PlanProject) -> None:
    project.write("staff.csv", HEADER + "".join(f"{name},cook,Oslo,2000,x\n" for name in ("Bo", "Bo#2", "Bo", "Bo")))
    project.plan(ASK)
    assert project.run()[0] == 0
    assert [each["id"] for each in project.lines("corpus.jsonl")] == [
        "staff:Bo", "staff:Bo#2", "staff:Bo#3", "staff:Bo#4",
    ]  # fmt: skip
