"""Cases of `rageval generate` run as tests: supplied, retrieved, dialogues, integration."""

from __future__ import annotations

import json
import os
import socket

import pytest
from support.projects.rag_project import Project

STAFF = """
    name,job,city,since
    Ann Lee,curator,Oslo,2011
    Bo Ek,director,Bergen,2004
    Cy Dahl,guard,Molde,2019
    Dag Moe,cook,Hamar,1999
"""

PLAN = """
    [split]
    auto_test = 1.0
    [[table]]
    name = "staff"
    path = "staff.csv"
    passage = "{name} works as {job} in {city} since {since}."
    [[template]]
    table = "staff"
    ask = "Where does {name}, the {job}, work?"
    answer = "{city}"
    level = "knowledge_seeking"
    [[template]]
    table = "staff"
    ask = "In which city does {name} have a post?"
    follow_up = "And since when?"
    answer = ["{city}", "{since}"]
    [[template]]
    table = "staff"
    task = "integration"
    ask = "In which two cities are {name} and {other.name} employed?"
    answer = "{city}"
"""

TESTS = """
    from pytest_rageval import rag_case

    CASES = "jsonl:out/auto_test.jsonl"

    EXTRACTIVE = {"task": "extractive_qa"}

    @rag_case(CASES, where=EXTRACTIVE, metrics=["accuracy"], gates=["accuracy[level=knowledge_seeking] >= 1"])
    def test_supplied(rag):
        ...

    @rag_case(CASES, where=EXTRACTIVE, passages="retrieved", metrics=["R@1"], gates=["R@1 >= 1"])
    def test_retrieved(rag):
        ...

    @rag_case(CASES, where={"task": "conversational_qa"}, history="own", metrics=["accuracy"])
    def test_dialogues(rag):
        ...

    @rag_case(CASES, where={"task": "information_integration"}, ability="information_integration", passages=2)
    def test_integration(rag):
        ...
"""

LOGGING = """
    import pytest

    @pytest.fixture(scope="session")
    def rag_system(rag_retriever):
        def answer(query):
            with open("queries.txt", "a") as file:
                print(repr(query), file=file)
            return " ".join(p.text for p in query.passages or rag_retriever.retrieve(query.question, 1).items)
        return answer
"""


def generate_cases(project: Project) -> None:
    project.file("staff.csv", STAFF)
    project.file("plan.toml", PLAN)
    process = project.command("generate", "plan.toml", "--out", "out")
    assert (process.returncode, process.stderr) == (0, "")
    project.file("pytest.ini", "[pytest]\nrag_corpus = out/corpus.jsonl")
    project.file("test_it.py", TESTS)


def test_generated_cases_run_with_no_key_and_find_their_rows(project: Project) -> None:
    generate_cases(project)
    run = project.run()
    assert run.status == 0, run.text
    assert {expr: gate["status"] for expr, gate in run.gates.items()} == {
        "accuracy[level=knowledge_seeking] >= 1": "passed",
        "R@1 >= 1": "passed",
    }
    by_test: dict[str, int] = {}
    for outcome in run.results["outcomes"]:
        assert outcome["status"] == "scored"
        name = outcome["nodeid"].partition("::")[2].partition("[")[0]
        by_test[name] = by_test.get(name, 0) + 1
    assert by_test == {"test_supplied": 4, "test_retrieved": 4, "test_dialogues": 8, "test_integration": 2}


def test_a_plan_runs_without_key_and_network_and_gives_the_same_bytes_again(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`rageval generate examples/staff.toml --out o && pytest --rag-limit 5`, twice."""

    def refuse(*_: object) -> None:
        raise OSError("no network")

    for name in [name for name in os.environ if name.endswith("_KEY")]:
        monkeypatch.delenv(name)
    for call in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, call, refuse)
    for call in ("getaddrinfo", "create_connection"):
        monkeypatch.setattr(socket, call, refuse)
    (project.path / "examples").mkdir()
    project.file("examples/staff.csv", STAFF)
    project.file("examples/staff.toml", PLAN)
    project.file("staff.rag.toml", '[[testbed]]\nname = "staff"\ndataset = "jsonl:o/auto_test.jsonl"')
    outputs = []
    for out in ("o", "o", "again"):
        process = project.command("generate", "examples/staff.toml", "--out", out)
        assert (process.returncode, process.stderr) == (0, "")
        outputs.append({path.name: path.read_bytes() for path in (project.path / out).rglob("*") if path.is_file()})
    assert outputs[0] == outputs[1] == outputs[2]
    assert {"auto_test.jsonl", "corpus.jsonl", "drafts.jsonl", "manifest.json", "report.md"} <= set(outputs[0])
    run = project.run("--rag-limit", "5")
    assert run.status == 0, run.text
    assert [outcome["status"] for outcome in run.results["outcomes"]] == ["scored"] * 5


def test_no_system_and_no_facet_sees_how_a_case_was_generated(project: Project) -> None:
    generate_cases(project)
    project.file("conftest.py", LOGGING)
    run = project.run("-k", "supplied")
    queries = (project.path / "queries.txt").read_text(encoding="utf-8")
    assert "Ann Lee" in queries
    for word in ("generated", "draft", "sha256", "plan.toml"):
        assert word not in queries
    assert all("generated" not in outcome["facets"] for outcome in run.results["outcomes"])
    records = (project.path / "out" / "auto_test.jsonl").read_text(encoding="utf-8").splitlines()
    assert all("sha256" in json.loads(line)["generated"]["sources"][0] for line in records)


def test_an_import_keeps_how_a_case_was_generated(project: Project) -> None:
    generate_cases(project)
    process = project.command("import", "jsonl", "out/auto_test.jsonl", "--out", "copy.jsonl")
    assert process.returncode == 0, process.stdout
    lines = [
        {line["id"]: line for line in map(json.loads, (project.path / name).read_text(encoding="utf-8").splitlines())}
        for name in ("out/auto_test.jsonl", "copy.jsonl")
    ]
    assert lines[0] == lines[1]
