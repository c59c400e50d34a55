"""Unfinished runs: find them and read their folders."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_rageval.report.files.interrupted_run import (
    Head,
    mismatch,
    newest_unfinished,
    read_head,
    read_interrupted_run,
)
from pytest_rageval.report.files.run_folder import ENDED, HEAD, OUTCOMES

IDENTITY = {"data": {"jsonl:a.jsonl": "sha256:1"}}


def run(
    runs: Path,
    name: str,
    *ended: str,
    n_left: int | None = None,
    resumed: str = "",
    cases: tuple[str, ...] = ("a", "b"),
    shard: str = "",
    errors: int = 0,
) -> Path:
    """Write the folder of a run in which the cases ``ended`` have finished."""
    folder = runs / name
    folder.mkdir(parents=True)
    (folder / HEAD).write_text(Head(IDENTITY, cases, resumed, n_left, shard, errors).dumps())
    (folder / OUTCOMES).write_text("".join(json.dumps({"nodeid": case, "by": name}) + "\n" for case in ended))
    lines = [json.dumps({"nodeid": case, "line": at}) + "\n" for at, case in enumerate(ended)]
    (folder / ENDED).write_text("".join(lines))
    return folder


def test_a_run_head_survives_a_round_trip(tmp_path: Path) -> None:
    folder = run(tmp_path, "1", n_left=2, resumed="0", shard="2/3")
    assert read_head(folder) == Head(IDENTITY, ("a", "b"), "0", 2, "2/3")


def test_a_malformed_line_counts_as_no_ended_case(tmp_path: Path) -> None:
    folder = run(tmp_path, "1", "a")
    with (folder / ENDED).open("a", encoding="utf-8") as file:
        file.write('"é"\n\n{"nodeid": "b", "line": "0"}\n' + "[" * 5000 + "]" * 5000 + "\n")
    assert read_interrupted_run(folder).ended.keys() == {"a"}
    assert read_interrupted_run(folder).unread == 4


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", "null", '{"identity": {}}', "[" * 5000 + "]" * 5000),
        Head({"data": {"a": 1}}, ("a",)).dumps(),  # type: ignore[dict-item]
        Head(IDENTITY, (1,)).dumps(),  # type: ignore[arg-type]
    ],
)
def test_a_malformed_head_counts_as_missing(tmp_path: Path, text: str) -> None:
    folder = run(tmp_path, "1", "a")
    (folder / HEAD).write_text(text)
    assert read_head(folder) is None
    assert newest_unfinished(tmp_path) is None
    assert read_interrupted_run(folder).ended == {}


def test_the_newest_unfinished_run_is_found(tmp_path: Path) -> None:
    assert newest_unfinished(tmp_path / "none") is None
    run(tmp_path, "20260101T000000-2", "a")
    run(tmp_path, "20260101T000000-10", "a", n_left=1)
    run(tmp_path, "20260102T000000", "a", n_left=0)
    (tmp_path / "20260103T000000").mkdir()  # a run killed before its first case
    folder = newest_unfinished(tmp_path)
    assert folder is not None
    assert folder.name == "20260101T000000-10"


def test_a_run_with_errors_is_unfinished_until_a_later_run_repeats_its_cases_without_errors(tmp_path: Path) -> None:
    run(tmp_path, "20260101T000000", "a", n_left=0, errors=1)
    run(tmp_path, "20260102T000000", "a", n_left=0, cases=("a",))
    folder = newest_unfinished(tmp_path)
    assert folder is not None
    assert folder.name == "20260101T000000"
    run(tmp_path, "20260103T000000", "b", n_left=0, cases=("b",))
    assert newest_unfinished(tmp_path) is None


def test_a_head_without_the_number_of_errors_is_read(tmp_path: Path) -> None:
    folder = run(tmp_path, "1", "a", n_left=0)
    head = json.loads((folder / HEAD).read_text())
    del head["errors"]
    (folder / HEAD).write_text(json.dumps(head))
    assert read_head(folder) == Head(IDENTITY, ("a", "b"), "", 0, "", 0)


def test_a_run_that_was_resumed_is_not_found(tmp_path: Path) -> None:
    run(tmp_path, "20260101T000000", "a")
    run(tmp_path, "20260102T000000", "a", "b", n_left=0, resumed="20260101T000000")
    assert newest_unfinished(tmp_path) is None


def test_a_shard_resumes_a_run_of_the_same_shard_or_a_whole_run(tmp_path: Path) -> None:
    def folder(shard: str) -> str:
        folder = newest_unfinished(tmp_path, shard)
        return "" if folder is None else folder.name

    run(tmp_path, "20260101T000000", n_left=2)
    run(tmp_path, "20260102T000000", n_left=1, resumed="20260101T000000", shard="1/2")
    assert [folder(shard) for shard in ("1/2", "2/2", "1/3", "")] == [
        *("20260102T000000", "20260101T000000", "20260101T000000", "20260102T000000")
    ]


def test_cases_missing_in_a_killed_resumed_run_are_read_from_its_predecessor(tmp_path: Path) -> None:
    run(tmp_path, "1", "a", "b", "c", cases=("a", "b", "c", "d"))
    folder = run(tmp_path, "2", "b", resumed="1", cases=("a", "b"))
    interrupted_run = read_interrupted_run(folder)
    assert {case: line["outcome"]["by"] for case, line in interrupted_run.ended.items()} == {
        "a": "1",
        "b": "2",
        "c": "1",
    }
    assert (interrupted_run.run, interrupted_run.cases) == ("2", frozenset("ab"))
    (tmp_path / "1" / HEAD).unlink()
    assert read_interrupted_run(folder).ended.keys() == {"b"}


@pytest.mark.parametrize("name", [OUTCOMES, ENDED])
def test_a_half_written_line_counts_as_no_ended_case(tmp_path: Path, name: str) -> None:
    folder = run(tmp_path, "1", "a", "b")
    whole = (folder / name).read_bytes()
    assert read_interrupted_run(folder).ended.keys() == {"a", "b"}
    start = whole.index(b"\n") + 1
    for length in range(start, len(whole) - 1):
        (folder / name).write_bytes(whole[:length])
        assert read_interrupted_run(folder).ended.keys() == {"a"}
        assert read_interrupted_run(folder).unread == 0


def test_instances_of_an_interrupted_run_are_read(tmp_path: Path) -> None:
    folder = run(tmp_path, "1", "a")
    with (folder / ENDED).open("a") as file:
        file.write(json.dumps({"case_id": "q1", "instance": {"question": "?"}}) + "\n")
    assert read_interrupted_run(folder).instances == {"q1": {"question": "?"}}


@pytest.mark.parametrize(
    ("kind", "old", "new", "problem"),
    [
        ("data", "sha256:1", "sha256:2", "its data differ: x has changed"),
        ("settings", "1", "2", "its settings differ: x was 1 and is 2"),
        ("systems", "", "sha256:1", "its system differs: x has changed"),
        ("systems", "", "llm", "its system differs: x was not given and is llm"),
        ("versions", "0.1", "0.2", "its versions differ: x was 0.1 and is 0.2"),
        ("files", "sha256:1", "sha256:2", None),
        ("data", "1", "1", None),
    ],
)
def test_a_mismatch_names_the_difference(kind: str, old: str, new: str, problem: str | None) -> None:
    assert mismatch({kind: {"x": old, "only": "1"}}, {kind: {"x": new, "new": "2"}}) == problem
