"""The baseline file: it round-trips, and each error is one sentence."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_rageval.analysis.baseline.snapshot import Measured, MeasuredTestbed, Snapshot
from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.errors import DataError, SettingError
from pytest_rageval.report.files.baseline_file import read_baseline, refuse_to_replace, write_baseline

TESTBED = "test_a.py::test_a"
CASES = (
    Measured(TESTBED, "q1", "mine", {"topic": "Funds", "task": "qa"}, "d" * 16, ("a" * 16, "b" * 16), 0.5,
             {"f1": 0.333333, "accuracy": 1.0}),
    Measured(TESTBED, "q2", "mine", {}, "", (), None, {}, failed=True),
    Measured(TESTBED, "基金", "mine", {}, "e" * 16, (), None, {"accuracy": 0.0}, answer_seen=0.5),
)  # fmt: skip
SNAPSHOT = Snapshot(
    "20260102T030405",
    "2026-01-02T03:04:05+00:00",
    "sha256:0",
    {"python": "3.11.7"},
    {"f1": MetricInfo(), "accuracy": MetricInfo(binary=True)},
    {TESTBED: MeasuredTestbed("test_a", ("accuracy", "f1"))},
    CASES,
)


@pytest.fixture
def baseline_path(tmp_path: Path) -> Path:
    path = tmp_path / "stored" / "rag-baseline.json"
    write_baseline(path, SNAPSHOT)
    return path


def test_a_baseline_round_trips(baseline_path: Path) -> None:
    assert read_baseline(baseline_path) == replace(SNAPSHOT, path="rag-baseline.json")


def test_the_cluster_of_a_testbed_is_stored(tmp_path: Path) -> None:
    cases = tuple(replace(case, cluster="topic") for case in CASES)
    testbeds = {TESTBED: MeasuredTestbed("test_a", ("accuracy", "f1"), "topic")}
    write_baseline(tmp_path / "b.json", replace(SNAPSHOT, testbeds=testbeds, cases=cases))
    baseline = read_baseline(tmp_path / "b.json")
    assert (baseline.testbeds, baseline.cases) == (testbeds, cases)


def test_each_case_is_a_line_and_the_bytes_are_reproducible(baseline_path: Path) -> None:
    text = baseline_path.read_text(encoding="utf-8")
    lines = text.splitlines()
    first, last = next(at for at, line in enumerate(lines) if "q1" in line), len(lines) - 2
    assert [json.loads(line.rstrip(","))["case"] for line in lines[first:last]] == ["q1", "q2", "基金"]
    assert json.loads(lines[first].rstrip(",")) == {
        "testbed": TESTBED,
        "case": "q1",
        "system": "mine",
        "scores": {"accuracy": 1.0, "f1": 0.333333},
        "evidence": 0.5,
        "said": ["a" * 16, "b" * 16],
        "data": "d" * 16,
        "facets": {"task": "qa", "topic": "Funds"},
    }
    assert "基金" in text
    assert "\r" not in text
    write_baseline(baseline_path, read_baseline(baseline_path))
    assert baseline_path.read_text(encoding="utf-8") == text


def test_digests_of_judged_passages_have_a_line_each(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    write_baseline(path, replace(SNAPSHOT, passages={"b.md#1": "b" * 16, "a.md#0": "a" * 16}))
    assert f'"passages": {{\n "a.md#0": "{"a" * 16}",\n "b.md#1": "{"b" * 16}"\n}}' in path.read_text(encoding="utf-8")
    assert read_baseline(path).passages == {"a.md#0": "a" * 16, "b.md#1": "b" * 16}


def test_a_baseline_of_schema_1_is_read_and_has_no_digests(baseline_path: Path) -> None:
    text = baseline_path.read_text(encoding="utf-8")
    baseline_path.write_text(text.replace('"schema": 2', '"schema": 1'), encoding="utf-8")
    assert read_baseline(baseline_path) == replace(SNAPSHOT, path="rag-baseline.json")
    assert read_baseline(baseline_path).passages is None


def test_a_baseline_without_cases_round_trips(tmp_path: Path) -> None:
    empty = replace(SNAPSHOT, cases=(), testbeds={}, metrics={})
    write_baseline(tmp_path / "b.json", empty)
    assert read_baseline(tmp_path / "b.json") == replace(empty, path="b.json")


def test_a_baseline_is_written_atomically(baseline_path: Path) -> None:
    before = baseline_path.read_bytes()
    broken = replace(SNAPSHOT, cases=(replace(CASES[0], scores={"accuracy": float("nan")}),))
    with pytest.raises(ValueError, match="nan is not a finite number"):
        write_baseline(baseline_path, broken)
    assert baseline_path.read_bytes() == before
    assert [path.name for path in baseline_path.parent.iterdir()] == ["rag-baseline.json"]


HOW_TO_FIX = "resolve the conflict or write it anew with --rag-update-baseline"


def with_conflict_marker(text: str) -> str:
    head, case, tail = text.partition('{"testbed"')
    return f"{head}<<<<<<< ours\n{case}{tail}"


def with_duplicate_case(text: str) -> str:
    line = next(line for line in text.splitlines() if '"q1"' in line)
    return text.replace(line, f"{line}\n{line}")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (with_conflict_marker, f":14: invalid JSON (Expecting value); {HOW_TO_FIX}"),
        (lambda text: text[: len(text) // 2], "invalid JSON ("),
        (lambda text: "[" * 5000 + "]" * 5000, f":1: invalid JSON (it is nested deeper than 100 levels); {HOW_TO_FIX}"),
        (lambda text: "", f":1: invalid JSON (Expecting value); {HOW_TO_FIX}"),
        (lambda text: "[]",
         ": the baseline's schema is None, expected 1 or 2; write it anew with --rag-update-baseline"),
        (lambda text: "{}",
         ": the baseline's schema is None, expected 1 or 2; write it anew with --rag-update-baseline"),
        (lambda text: text.replace('"schema": 2', '"schema": 3'),
         ": the baseline's schema is 3, expected 1 or 2; write it anew with --rag-update-baseline"),
        (lambda text: '{"schema": 1}', f": malformed baseline (KeyError: 'cases'); {HOW_TO_FIX}"),
        (lambda text: text.replace('"accuracy": 1.0', '"accuracy": 1.5'),
         f": malformed baseline (a score of the case 'q1' is not in 0..1); {HOW_TO_FIX}"),
        (lambda text: text.replace('"accuracy": 1.0', '"accuracy": NaN'),
         f": malformed baseline (a score of the case 'q1' is not in 0..1); {HOW_TO_FIX}"),
        (lambda text: text.replace('"accuracy": 1.0', '"accuracy": null'), ": malformed baseline (TypeError: "),
        (lambda text: text.replace('"accuracy": 1.0', '"accuracy": "good"'), ": malformed baseline ("),
        (lambda text: text.replace('"evidence": 0.5', '"evidence": 7'),
         f": malformed baseline (the evidence of the case 'q1' is not in 0..1); {HOW_TO_FIX}"),
        (lambda text: text.replace('"answer_seen": 0.5', '"answer_seen": -1'),
         f": malformed baseline (the answer_seen of the case '基金' is not in 0..1); {HOW_TO_FIX}"),
        (lambda text: text.replace('"cases": [', '"cases": [7,'), ": malformed baseline (TypeError: "),
        (lambda text: text.replace('"facets": {}', '"facets": []'), ": malformed baseline (AttributeError: "),
        (lambda text: text.replace('"binary": true', '"colour": true'), ": malformed baseline (KeyError: 'binary'); "),
        (lambda text: text.replace('"cases": [', '"passages": {"a": 1}, "cases": ['),
         f": malformed baseline (passages must be an object of ids and digests); {HOW_TO_FIX}"),
        (with_duplicate_case, f": malformed baseline (duplicate case 'q1' of {TESTBED}); {HOW_TO_FIX}"),
    ],
)  # fmt: skip
def test_an_invalid_baseline_is_reported_in_one_sentence(
    baseline_path: Path, change: Callable[[str], str], problem: str
) -> None:
    text = baseline_path.read_text(encoding="utf-8")
    baseline_path.write_text(change(text), encoding="utf-8")
    assert change(text) != text
    with pytest.raises(DataError) as caught:
        read_baseline(baseline_path)
    assert str(caught.value).startswith(str(baseline_path))
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_binary_file_is_reported_in_one_sentence(baseline_path: Path) -> None:
    baseline_path.write_bytes(b'{"schema": \xff')
    with pytest.raises(DataError, match="a baseline is UTF-8 text, and byte 11 is not"):
        read_baseline(baseline_path)


def test_an_unreadable_file_is_reported_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"the baseline .* cannot be read: "):
        read_baseline(tmp_path)


def test_a_byte_order_mark_and_crlf_are_accepted(baseline_path: Path) -> None:
    text = baseline_path.read_text(encoding="utf-8")
    baseline_path.write_bytes(("\ufeff" + text.replace("\n", "\r\n")).encode())
    assert read_baseline(baseline_path).cases == CASES


@pytest.mark.parametrize("text", ["# My notes\n", '{"id": "q1"}\n', '{\n"schema": 1,\n"outcomes": [\n]\n}\n', "\xff"])
def test_another_file_is_not_overwritten(text: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(SettingError, match="is not a baseline, so it is not overwritten; name another"):
        refuse_to_replace(path)


@pytest.mark.parametrize("text", ["", '{\n"schema": 1,\n<<<<<<< HEAD\n"fingerprint": "a",\n', '{"schema": 0}'])
def test_a_broken_baseline_may_be_overwritten(text: str, tmp_path: Path) -> None:
    path = tmp_path / "rag-baseline.json"
    path.write_text(text, encoding="utf-8")
    refuse_to_replace(path)


def test_a_results_json_is_refused_as_a_baseline(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text('{"schema": 1, "outcomes": []}', encoding="utf-8")
    with pytest.raises(DataError, match="not a baseline; name another file"):
        read_baseline(path)
