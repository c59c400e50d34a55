"""Ids of cases follow the contract and are unique, stable, safe and short."""

from __future__ import annotations

import re

import pytest
from support.projects.rag_project import Project, cases
from test_multiplying import names

ODD = [
    "中文 问题", "with space", "a/b\\c", "x::y", "[gate: n > 1]", "long" * 125, "tab\tline\n", "\x1b[31mred",
    "\u202eright", "-k", "a,b;c", "'quoted\"", "$HOME", "%s", "...", "é", "e\u0301", "\x01" * 2, "CON",
    "x" * 61, "x" * 62,
]  # fmt: skip


def test_ids_follow_the_contract(project: Project) -> None:
    project.file("data/en_refine.json", "".join(
        f'{{"id": {n}, "query": "Who?", "answer": ["Ann"], "positive": ["Ann."], "negative": ["Bob.", "Cid."]}}\n'
        for n in (3, 17)
    ))  # fmt: skip
    project.file("test_it.py", """
        from pytest_rageval import rag_case

        @rag_case("rgb:data/en_refine.json", ability="noise_robustness", noise_rate=[0, 0.4], passages=2)
        def test_noise(rag): ...

        @rag_case("rgb:data/en_refine.json", ability="noise_robustness", noise_rate=0.4)
        def test_one(rag): ...
    """)  # fmt: skip
    assert names(project) == [
        "test_noise[en_refine-3-noise_rate=0]", "test_noise[en_refine-3-noise_rate=0.4]",
        "test_noise[en_refine-17-noise_rate=0]", "test_noise[en_refine-17-noise_rate=0.4]",
        "test_one[en_refine-3]", "test_one[en_refine-17]",
    ]  # fmt: skip
    both = ("--rag-system", "extractive", "--rag-system", "json:dumps", "-k", "test_one and 17")
    first, second = names(project, *both)
    assert first == "test_one[en_refine-17-system=extractive]"
    assert re.fullmatch(r"test_one\[en_refine-17-system=json_dumps~[0-9a-f]{6}\]", second)


def test_odd_ids_are_unique_safe_and_short(project: Project) -> None:
    project.says([{**row, "id": name} for name, row in zip(ODD, cases(*["say Paris"] * len(ODD)), strict=True)])
    run = project.run("-v")
    assert run.status == 0
    run.result.assert_outcomes(passed=len(ODD))
    nodeids = [outcome["nodeid"] for outcome in run.results["outcomes"]]
    assert len(set(nodeids)) == len(ODD)
    for nodeid in nodeids:
        assert re.fullmatch(r"test_it\.py::test_it\[[A-Za-z0-9_.=@+~-]{1,60}\]", nodeid)
    assert list(run.outcomes) == ODD


def test_each_id_selects_its_case(project: Project) -> None:
    project.says([{**row, "id": name} for name, row in zip(ODD, cases(*["say Paris"] * len(ODD)), strict=True)])
    every = names(project)
    for selection in (every, every[:1], every[7:9]):
        run = project.run(*(f"test_it.py::{name}" for name in selection))
        run.result.assert_outcomes(passed=len(selection))
        assert [outcome["nodeid"] for outcome in run.results["outcomes"]] == [
            f"test_it.py::{name}" for name in selection
        ]


@pytest.mark.parametrize("order", ["appended", "prepended"])
def test_ids_do_not_change_when_records_are_added(project: Project, order: str) -> None:
    rows = [{**row, "id": name} for name, row in zip(ODD, cases(*["say Paris"] * len(ODD)), strict=True)]
    project.says(rows)
    before = names(project)
    new = [{**row, "id": f"new {row['id']}"} for row in rows]
    project.data([*rows, *new] if order == "appended" else [*new, *rows])
    after = names(project)
    assert len(after) == 2 * len(before)
    assert [name for name in after if "[new" not in name] == before


def test_ids_are_the_same_in_every_run(project: Project) -> None:
    project.says(cases(*["say Paris"] * 5), "passages=[1, 2]")
    assert names(project) == names(project) == names(project, "--rag-seed", "7")
