"""``--rag-shard``: which cases a shard runs, and how it ends."""

from __future__ import annotations

import json

import pytest
from support.projects.rag_project import RUNS, Mode, Project, Row, Run, case, cases, validate

from pytest_rageval.cli import main

GATED = "gates=['accuracy >= 1']"


def case_ids(run: Run) -> list[str]:
    return [outcome["case_id"] for outcome in run.results["outcomes"]]


BODIES = """
    import pytest
    from pytest_rageval import rag_case

    @pytest.fixture
    def breaks():
        yield
        raise ValueError("in the teardown")

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"], gates=["accuracy >= 1"])
    def test_it(rag, request):
        if rag.case.id == "q2":
            request.getfixturevalue("breaks")
        assert rag.case.id != "q1"

    def test_other():
        assert False
"""


def test_a_shard_runs_its_share_and_decides_no_gate(project: Project, mode: Mode) -> None:
    project.says(cases(*["say Paris", "say Rome"] * 4), GATED)
    project.file("test_other.py", "def test_other(): pass")
    run = project.run("-v", "--rag-shard", "2/2", *mode)
    assert run.status == run.results["run"]["exitstatus"] == 0
    assert len(case_ids(run)) == 4
    run.said(
        "4 cases: 4 scored, 0 errors * shard 2 of 2",
        "*SKIPPED  accuracy >= 1  this is shard 2 of 2; rageval merge decides it",
    )
    assert run.result.parseoutcomes()["passed"] + run.result.parseoutcomes()["missed"] == 4 + 1
    assert run.results["plan"]["unselected"] == 0


def test_the_case_ids_alone_decide_the_shard(project: Project) -> None:
    rows = cases(*["say Paris"] * 7)
    project.says(rows)
    before = set(case_ids(project.run("--rag-shard", "2/3")))
    project.data(rows[::-1])
    after = case_ids(project.run("--rag-shard", "2/3"))
    assert set(after) == before
    assert after == sorted(before, reverse=True)  # in the order of the data


def test_shards_divide_the_cases_that_remain_after_selection_and_limit(project: Project) -> None:
    project.says(cases(*["say Paris"] * 9))
    runs = [project.run("-v", "--rag-shard", f"{at}/2", "-k", "not q1", "--rag-limit", "4") for at in (1, 2)]
    assert sorted(case_ids(runs[0]) + case_ids(runs[1])) == ["q2", "q3", "q4", "q5"]
    assert [len(case_ids(run)) for run in runs] == [2, 2]
    runs[0].said("2 cases: 2 scored, 0 errors, 5 not selected * shard 1 of 2", "*7 deselected*")


TWO_TESTBEDS = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"], history="own")
    def test_own(rag):
        ...

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"], where={"topic": "a"})
    def test_part(rag):
        ...
"""


def test_a_conversation_and_a_case_in_two_testbeds_stay_together(project: Project) -> None:
    talks: list[Row] = [
        {**row, "id": f"t{talk}.{at}", "dialogue": talk, "round": at}
        for talk in range(4)
        for at, row in enumerate(cases("say Paris", "say Paris"), 1)
    ]
    project.says([{**row, "topic": "ab"[at % 2]} for at, row in enumerate([*cases(*["say Paris"] * 8), *talks])])
    project.file("test_it.py", TWO_TESTBEDS)
    runs = [project.run("--rag-shard", f"{at}/2", "--rag-repeat", "2") for at in (1, 2)]
    first, second = (set(case_ids(run)) for run in runs)
    assert not first & second
    assert [sum(name.startswith("t") for name in names) for names in (first, second)] == [4, 4]
    assert all({"t0.1", "t0.2"} <= names or not {"t0.1", "t0.2"} & names for names in (first, second))
    for run in runs:
        nodes = [outcome["testbed"] for outcome in run.results["outcomes"]]
        assert [nodes.count(f"test_it.py::test_{name}") for name in ("own", "part")] == [16, 8]


def test_an_empty_shard_passes(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    project.says(cases("say Paris"), GATED)
    runs = [project.run("--rag-shard", f"{at}/2", json_path=f"{at}.json") for at in (1, 2)]
    assert [(run.status, len(case_ids(run))) for run in runs] == [(0, 1), (0, 0)]
    assert main(["merge", "2.json", "1.json", "--out", "all.json"]) == 0
    merged = json.loads((project.path / "all.json").read_text())
    validate(merged)
    assert [gate["status"] for gate in merged["gates"]] == ["passed"]


def test_a_shard_without_searches_has_the_same_fingerprint(project: Project) -> None:
    project.data([case("q1", "When does the desk open?", "9:00")])
    project.file("pytest.ini", "[pytest]\nrag_corpus = desk.md")
    project.file("desk.md", "The desk opens at 9:00.")
    project.file("test_it.py", RUNS.replace("{arguments}", ""))
    first, second = (project.run("--rag-shard", f"{at}/2").results for at in (1, 2))
    assert [len(each["outcomes"]) for each in (first, second)] == [1, 0]
    assert first["run"]["fingerprint"] == second["run"]["fingerprint"]


def test_a_shard_without_tests_exits_like_an_unsharded_run(project: Project) -> None:
    project.says(cases("say Paris"))
    assert project.run("--rag-shard", "1/2", "-k", "nothing").status == pytest.ExitCode.NO_TESTS_COLLECTED


def test_results_name_the_tests_that_failed(project: Project) -> None:
    project.says(cases("say Paris", "say Paris", "raise no such model"))
    project.file("test_it.py", BODIES)
    run = project.run()
    names = ["test_it[q1]", "test_it[q2]", "test_it[q3]", "test_other"]
    assert run.results["run"]["failed"] == [f"test_it.py::{name}" for name in names]
    assert run.results["run"]["exitstatus"] == run.status == 1
    assert "shard" not in run.results["run"]


def test_a_file_with_a_collection_error_is_listed_as_failed(project: Project) -> None:
    project.says(cases("say Paris"))
    project.file("test_broken.py", "import nothing_of_the_kind")
    run = project.run("--continue-on-collection-errors")
    assert run.results["run"]["failed"] == ["test_broken.py"]


@pytest.mark.parametrize("text", ["0/3", "4/3", "x", "1", "1/0", "-1/3", "1/3/3", "\u00b2/3"])
def test_an_invalid_shard_is_refused(project: Project, text: str) -> None:
    project.says(cases("say Paris"))
    run = project.run(f"--rag-shard={text}")
    assert run.status == pytest.ExitCode.USAGE_ERROR
    assert f"argument --rag-shard: {text!r} is not a shard; write I/N, from 1/N to N/N" in run.result.stderr.str()
