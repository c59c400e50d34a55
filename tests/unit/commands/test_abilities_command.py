"""``rageval generate abilities``: files, counts and errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.samples.town_samples import write_town

from pytest_rageval.cli import main
from pytest_rageval.datasets import jsonl

DATASET = ("jsonl:cases.jsonl", "--corpus", "town.jsonl")
FULL = (*DATASET, "--names", "people.txt", "--negatives", "5", "--out", "new.jsonl")


@pytest.fixture
def town(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_town(tmp_path)
    return tmp_path


def output_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str]]:
    status = main(["generate", "abilities", *arguments])
    out, err = capsys.readouterr()
    assert not (out if status == 2 else err)
    return status, (err if status == 2 else out).splitlines()


def records(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]


def test_it_writes_three_files_and_counts_what_is_missing(town: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, lines = output_of(capsys, *FULL)
    assert status == 0
    assert lines[0].startswith("negatives: 5 for each of 6 cases; passages left out: ")
    assert lines[1] == (
        "counterfactuals: 5 cases with 5 false passages (1 date, 1 money, 1 name, 1 number, 1 time); "
        "cases without one: 1 no_rule_for_answer"
    )
    assert lines[2:] == [
        "integration: 3 cases of two questions",
        "new.jsonl: 6 cases",
        "new.counterfactual.jsonl: 5 cases",
        "new.integration.jsonl: 3 cases",
    ]
    pools = {each["id"]: each for each in records(town, "new.jsonl")}
    ranks = pools["open"]["generated"]["abilities"]["negatives"]
    assert set(ranks) == {each["id"] for each in pools["open"]["passages"] if each["role"] == "negative"}
    assert all(set(each) == {"rank", "score"} for each in ranks.values())
    assert all(each["score"] == round(each["score"], 4) for each in ranks.values())  # the same on each machine
    assert pools["free"]["generated"]["abilities"]["no_counterfactual"].startswith("no_rule_for_answer")
    assert all(
        instance.facets.keys() == {"dataset", "language", "topic"} for instance in jsonl.load(town / "new.jsonl")
    )


def test_the_same_input_gives_the_same_bytes(town: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output_of(capsys, *FULL)
    first = {path.name: path.read_bytes() for path in town.glob("new*")}
    assert output_of(capsys, *FULL, "--force")[0] == 0
    assert {path.name: path.read_bytes() for path in town.glob("new*")} == first
    output_of(capsys, *FULL, "--force", "--seed", "7")
    assert (town / "new.counterfactual.jsonl").read_bytes() != first["new.counterfactual.jsonl"]


def test_a_file_that_gets_no_record_is_removed(town: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output_of(capsys, *FULL)
    status, lines = output_of(capsys, *FULL, "--force", "--no-integration", "--no-counterfactuals")
    assert (status, lines[-1]) == (0, "new.integration.jsonl: 0 cases, not written")
    assert sorted(path.name for path in town.glob("new*")) == ["new.jsonl"]


def test_keys_of_an_earlier_generation_are_kept(town: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row: dict[str, Any] = {"id": "q1", "question": "How many seats?", "answers": ["70"], "level": "x"}
    row |= {"generated": {"draft": "q1"}}
    row |= {"passages": [{"id": "a", "text": "It has 70 seats.", "role": "positive"}], "qrels": {"a": 1}}
    row |= {"evidence": [{"page": "a", "quote": "70 seats"}], "history": [{"question": "Who?", "answer": "Ann"}]}
    (town / "cases.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    assert output_of(capsys, "jsonl:cases.jsonl", "--negatives", "0", "--out", "new.jsonl")[0] == 0
    (pool,), (counterfactual,) = records(town, "new.jsonl"), records(town, "new.counterfactual.jsonl")
    assert {key: pool[key] for key in ("qrels", "history", "level", "passages")} == {
        key: row[key] for key in ("qrels", "history", "level", "passages")
    }
    assert pool["evidence"] == [row["evidence"]]
    assert pool["generated"]["draft"] == counterfactual["generated"]["draft"] == "q1"
    assert counterfactual["generated"]["abilities"]["of"] == "q1"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("jsonl:cases.jsonl", "--out", "new.jsonl"), "--corpus is missing: negative passages come from it"),
        ((*DATASET, "--out", "new.json"), "--out new.json does not end in .jsonl"),
        ((*DATASET, "--out", "cases.jsonl"), "--out cases.jsonl is the dataset itself"),
        ((*DATASET, "--out", "town.jsonl"), "town.jsonl already exists; name another file with --out, or add --force"),
        ((*DATASET, "--out", "new.jsonl", "--negatives", "-1"), "--negatives is -1; it must be 0 or more"),
        (("cases.jsonl", "--corpus", "town.jsonl", "--out", "new.jsonl"), "is not format:path"),
        (("jsonl:no.jsonl", "--corpus", "town.jsonl", "--out", "new.jsonl"), "no such file or folder"),
        (("jsonl:cases.jsonl", "--corpus", "no.jsonl", "--out", "new.jsonl"), "no such file"),
        ((*DATASET, "--chunking", "word", "--out", "new.jsonl"), "unknown chunking 'word'"),
        ((*DATASET, "--names", "no.txt", "--out", "new.jsonl"), "no.txt"),
        ((*DATASET, "--names", "one.txt", "--out", "new.jsonl"), "a list needs at least two names, one a line"),
        ((*DATASET, "--out", "no/folder/new.jsonl"), "new.jsonl cannot be written"),
    ],
)
def test_invalid_input_is_one_sentence_and_nothing_is_written(
    town: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], problem: str
) -> None:
    (town / "one.txt").write_text("Ann Lee\n", encoding="utf-8")
    status, lines = output_of(capsys, *arguments)
    assert (status, len(lines)) == (2, 1), lines
    assert problem in lines[0]
    assert not (town / "new.jsonl").exists()
