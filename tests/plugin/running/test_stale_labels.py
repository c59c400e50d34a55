"""Chunk ids as labels after a new chunking: their cases are unscored, and no drop is shown."""

from __future__ import annotations

import json
from typing import Any

import pytest
import pytrec_eval_ext  # noqa: F401 - pytester unloads modules, and this one loads only once per process
from support.projects.rag_project import Mode, Project, Row, Run, case

from pytest_rageval.corpora.chunking import parse_chunking

COARSE, FINE = "tokens 120 20", "tokens 100 20"
UPDATE = ("--rag-baseline", "rag-baseline.json", "--rag-update-baseline")
BASELINE = ("--rag-baseline", "rag-baseline.json")
TEST = """
    from pytest_rageval import rag_case

    @rag_case(
        "jsonl:cases.jsonl", metrics=["R@5", "token_f1"], gates=["R@5 >= baseline - 0.02", "token_f1 >= baseline"]
    )
    def test_it(rag):
        ...
"""
ROOMS = (
    "amber",
    "birch",
    "cobalt",
    "damson",
    "ebony",
    "fuchsia",
    "garnet",
    "hazel",
    "indigo",
    "jade",
    "khaki",
    "lilac",
)


def page(floor: str) -> str:
    """Return a page about the rooms of a floor, about 60 words each."""
    return " ".join(
        f"The {room} room on the {floor} floor opens at {at + 7} o'clock. "
        + f"Visitors leave coats and bags {room}. " * 8
        for at, room in enumerate(ROOMS)
    )


PAGES = {f"{floor}.md": page(floor) for floor in ("first", "second")}
DESK = case("desk", "Where is the ticket desk?", "in the lobby", qrels={"lobby.md#0": 1})
"""A case whose page is one chunk in every chunking."""


def label_cases(chunking: str) -> list[Row]:
    """Return a question about each room; its label is the chunk with the opening time."""
    rows = []
    for name, text in PAGES.items():
        spans = list(parse_chunking(chunking).spans(text))
        for at, room in enumerate(ROOMS):
            fact = f"The {room} room on the {name[:-3]} floor opens at {at + 7} o'clock."
            chunk = next(n for n, (begin, end) in enumerate(spans) if fact in text[begin:end])
            question = f"When does the {room} room on the {name[:-3]} floor open?"
            rows.append(case(f"{name[:-3]}-{room}", question, f"{at + 7} o'clock", qrels={f"{name}#{chunk}": 1}))
    return [*rows, DESK]


def set_chunking(project: Project, chunking: str) -> None:
    project.file("pytest.ini", f"[pytest]\nrag_corpus = *.md\nrag_chunking = {chunking}\n")


@pytest.fixture
def museum(project: Project) -> Project:
    """Return a project whose baseline has the chunks of the labels."""
    for name, text in PAGES.items():
        project.file(name, text)
    project.file("lobby.md", "The ticket desk is in the lobby.")
    project.says(label_cases(COARSE), test=TEST, conftest="")
    set_chunking(project, COARSE)
    run = project.run(*UPDATE)
    assert run.status == 0
    assert mean(run, "R@5") > 0.9
    return project


def mean(run: Run, metric: str) -> float:
    values: list[float] = [outcome["scores"][metric]["value"] for outcome in run.results["outcomes"]]
    return sum(values) / len(values)


def read_baseline(project: Project) -> Any:
    return json.loads((project.path / "rag-baseline.json").read_text(encoding="utf-8"))


def stale_cases(run: Run) -> list[str]:
    """Return the cases whose R@5 is unscored because their labels are stale."""
    return [name for name, each in run.outcomes.items() if each["scores"]["R@5"].get("reason") == "stale_labels"]


def test_labels_of_other_chunks_fail_the_gate_and_show_no_drop(museum: Project, mode: Mode) -> None:
    assert len(read_baseline(museum)["passages"]) == len({name for row in label_cases(COARSE) for name in row["qrels"]})
    set_chunking(museum, FINE)
    run = museum.run(*BASELINE, *mode, "-v")
    assert run.status == 1
    assert set(stale_cases(run)) == {row["id"] for row in label_cases(COARSE)} - {"desk"}
    gate = run.gates["R@5 >= baseline - 0.02"]
    assert (gate["status"], gate["verdict"], gate["n"]) == ("failed", None, 1)
    assert gate["reason"] == (
        "stale labels in 24 of 25 cases (turn them into quotes with rageval anchor): "
        "their ids name other text than in the baseline"
    )
    answers = run.gates["token_f1 >= baseline"]
    assert (answers["n"], answers["n_pairs"]) == (25, 25)
    assert all(outcome["evidence"] is None for outcome in run.outcomes.values() if outcome["case_id"] != "desk")
    comparisons = {each["metric"]: each for each in run.results["comparison"]["comparisons"]}
    assert (comparisons["R@5"]["n_pairs"], comparisons["R@5"]["broken"]) == (1, [])
    run.said("*test_it[[]gate: R@5 >= baseline - 0.02[]]*", gate["reason"], "*unscored: 24 stale_labels (R@5)")
    assert run.results["comparison"]["cases"]["unscored"] == {"R@5": 24}
    assert "no score changed where both runs have one; no longer scored: R@5 in 24 cases" in run.prose
    warning = "test_it.py::test_it: stale labels in 24 of 25 judged cases: 'first.md#0' names other text than in the"
    assert run.prose.count(warning) == 1


def test_a_new_baseline_accepts_the_new_text(museum: Project) -> None:
    before = read_baseline(museum)["passages"]
    set_chunking(museum, FINE)
    run = museum.run(*UPDATE)
    assert run.status == 0
    assert not stale_cases(run)
    assert run.prose.count("stale labels in 24 of 25 judged cases") == 1  # before the new baseline is committed
    assert read_baseline(museum)["passages"].keys() == before.keys()
    assert read_baseline(museum)["passages"] != before
    run = museum.run(*BASELINE)
    assert run.status == 0
    assert not stale_cases(run)
    assert "stale" not in run.text


def test_ids_that_the_corpus_no_longer_has_are_stale_too(museum: Project) -> None:
    set_chunking(museum, "tokens 400")
    run = museum.run(*BASELINE, "--rag-gate", "R@5 >= 0.1")
    assert len(stale_cases(run)) == 24
    assert run.gates["R@5 >= 0.1"]["reason"].startswith("stale labels in 24 of 25 cases")


@pytest.mark.parametrize("schema", [1, 2])
def test_a_baseline_without_digests_decides_as_before_with_one_warning(museum: Project, schema: int) -> None:
    plain = read_baseline(museum)
    del plain["passages"]
    museum.file("rag-baseline.json", json.dumps(plain | {"schema": schema}))
    set_chunking(museum, FINE)
    run = museum.run(*BASELINE)
    assert run.status == 1
    assert not stale_cases(run)
    assert run.gates["R@5 >= baseline - 0.02"]["verdict"] == "worse"
    warning = "the baseline rag-baseline.json has no digests of judged passages, so stale labels cannot be found"
    assert run.prose.count(warning) == 1


def test_a_partial_update_is_refused_if_judged_passages_changed(museum: Project) -> None:
    before = read_baseline(museum)
    set_chunking(museum, FINE)
    part = ("--rag-baseline", "rag-baseline.json", "--rag-update-baseline-part")
    run = museum.run(*part, "-k", "amber")
    assert run.status == 1
    assert (
        "left as it was, which fails the run: 2 judged passages changed, and labels of cases that did not run"
        in run.prose
    )
    assert read_baseline(museum) == before
    set_chunking(museum, COARSE)
    assert museum.run(*part, "-k", "amber").status == 0
    assert read_baseline(museum)["passages"] == before["passages"]
