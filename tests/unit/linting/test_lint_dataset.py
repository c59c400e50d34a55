"""``lint`` of a dataset or of instances: unreadable records, order of findings, errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.samples.lint_samples import of, record

from pytest_rageval import Finding, Instance, lint
from pytest_rageval.datasets import Loader
from pytest_rageval.errors import DataError, RagEvalError, SettingError, UnknownNameError
from pytest_rageval.linting import BUILTIN
from pytest_rageval.linting.linter import Linter
from pytest_rageval.registry import Registry

GOOD: dict[str, Any] = {"id": "q1", "question": "When does it open?", "answers": ["9:00"]}


def write_jsonl(path: Path, *rows: object) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def test_a_correct_dataset_has_no_finding(tmp_path: Path) -> None:
    assert lint(f"jsonl:{write_jsonl(tmp_path / 'cases.jsonl', GOOD)}") == []


def test_the_path_is_relative_to_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_jsonl(tmp_path / "data" / "cases.jsonl", GOOD, {**GOOD, "id": "q2"})
    monkeypatch.chdir(tmp_path)
    [finding] = lint("jsonl:data/cases.jsonl")
    problem = "the question is that of 'q1' at data/cases.jsonl:1, with the same gold"
    assert finding == Finding("duplicate_question", "warning", "q2", "data/cases.jsonl:2", problem)
    assert str(finding) == f"data/cases.jsonl:2: warning: duplicate_question q2: {problem}"


def unreadable(dataset: str) -> list[tuple[str, str]]:
    """Return the line and the start of the problem of each unreadable record."""
    findings = [each for each in lint(dataset) if each.check == "unreadable"]
    assert all((each.severity, each.id) == ("error", "") for each in findings)
    return [(each.origin.rpartition(":")[2], each.problem.partition(",")[0]) for each in findings]


def test_unreadable_records_are_findings_and_the_others_are_checked(tmp_path: Path) -> None:
    with_joined_names = {"id": "q4", "question": "Who?", "answers": ["Ann Lee;Bo Ek"]}
    path = Path(write_jsonl(tmp_path / "cases.jsonl", GOOD, {**GOOD, "answers": []}, GOOD, with_joined_names, [1]))
    path.write_bytes(path.read_bytes() + b'{"id": \n{"id": "\xe4"}\n{"id": "q8", "question": "\0"}\n')
    problems = unreadable(f"jsonl:{path}")
    assert problems == [
        ("2", "answers: found an array of 0"),
        ("3", "the id 'q1' is already in line 1"),
        ("5", "found an array of 1 for a record"),
        ("6", "invalid JSON at column 8 (Expecting value)"),
        ("7", "byte 0xe4 at offset 281 is not UTF-8; save the file as UTF-8"),
        ("8", "found a NUL byte"),
    ]
    assert [each.id for each in lint(f"jsonl:{path}") if each.check == "joined_names"] == ["q4"]


@pytest.mark.parametrize(
    ("form", "rows", "lines"),
    [
        ("rgb", [{"id": 1}, {"id": 2, "query": "Q?", "answer": "A", "positive": [], "negative": []}, {"id": 3}], "13"),
        ("kilt", [{"id": 1}, {"id": 2, "input": "Q?", "output": [{"answer": "A"}]}, {"input": "?"}], "13"),
        (
            "omnieval",
            [{"question": 1}, [{"question": "Q?", "answer": "A"}, {}], {"question": "Q?", "answer": []}],
            "123",
        ),
        (
            "labelled",
            [{"id": 1, "label": 1}, {"id": 2, "question": "Q?", "answer": "A", "label": 1}, {"label": 2}],
            "13",
        ),
    ],
)
def test_every_format_reads_on_after_a_malformed_record(
    form: str, rows: list[object], lines: str, tmp_path: Path
) -> None:
    path = write_jsonl(tmp_path / "x.jsonl", *rows)
    assert "".join(line for line, _ in unreadable(f"{form}:{path}")) == lines


def test_a_file_without_a_readable_record_reports_every_line(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "cases.jsonl", {}, [], {})
    assert [line for line, _ in unreadable(f"jsonl:{path}")] == ["1", "2", "3"]


def test_a_truncated_array_is_one_finding(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text('[{"id": 1},\n 3,\n {"id": ')
    assert [line for line, _ in unreadable(f"jsonl:{path}")] == ["2", "3"]


def test_an_unreadable_record_is_the_only_finding(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "cases.jsonl", GOOD, {**GOOD, "answers": []})
    [finding] = lint(f"jsonl:{path}")
    assert (finding.check, finding.severity, finding.origin) == ("unreadable", "error", f"{path}:2")
    assert finding.problem.startswith("answers: found an array of 0, wanted ")


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        ("Funds/extractive_qa.jsonl", "lies 1 level deep below the root, wanted <level 1>/<level 2>/<task>.jsonl"),
        ("notes.txt", "holds no file <level 1>/<level 2>/<task>.jsonl; name the root of the tree, or one file"),
    ],
)
def test_a_tree_without_all_levels_is_one_finding(tmp_path: Path, place: str, problem: str) -> None:
    write_jsonl(tmp_path / place, {"question": "Q?", "answer": "A"})
    [finding] = lint(f"omnieval:{tmp_path}")
    assert (finding.check, finding.severity) == ("unreadable", "error")
    assert finding.problem.startswith(problem)


def test_conversations_without_turns_are_reported(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "A" / "B" / "conversational_qa.jsonl", [], [{"question": "Q?", "answer": "A"}])
    finding = Finding("left_out", "note", "", f"{path}:1", "a conversation of zero turns")
    assert lint(f"omnieval:{tmp_path}") == [finding]
    write_jsonl(Path(path), [])
    no_record = Finding("unreadable", "error", "", f"omnieval:{tmp_path}", "the dataset has no record")
    assert lint(f"omnieval:{tmp_path}") == [finding, no_record]


def test_findings_are_sorted_dataset_first_then_by_record() -> None:
    joined_names = (("a,b",),)
    records = [
        record("q9", gold=joined_names, language="zh", question="问题是什么？", line=1),
        record("q1", gold=joined_names, passages=(*of("positive", "x"), *of("negative", "x")), line=2),
        record("q5", gold=joined_names, line=3),
    ]
    findings = lint(records, passages=1)
    assert [(each.check, each.id) for each in findings] == [
        ("language_mix", ""), ("joined_names", "q9"),
        ("double_role", "q1"), ("joined_names", "q1"), ("positive_without_gold", "q1"),
        ("joined_names", "q5"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("dataset", "error", "message"),
    [
        ("jsonl:nope.jsonl", DataError, "nope.jsonl: no such file or folder; a path is relative to the current folder"),
        ("cases.jsonl", SettingError, "dataset 'cases.jsonl' is not format:path; write for example jsonl:cases.jsonl"),
        ("jsonl:", SettingError, "dataset 'jsonl:' is not format:path; write for example jsonl:cases.jsonl"),
        ("jsnl:x", UnknownNameError, "unknown dataset format 'jsnl'; did you mean 'jsonl'?"),
    ],
)
def test_a_missing_dataset_is_an_error(dataset: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as raised:
        lint(dataset)
    assert str(raised.value) == message


@pytest.mark.parametrize("path", ["a\0b", "x" * 999])
def test_an_invalid_path_is_an_error(path: str) -> None:
    with pytest.raises(RagEvalError) as raised:
        lint(f"jsonl:{path}")
    assert str(raised.value).isprintable()


def test_the_failure_of_a_custom_loader_is_one_message(tmp_path: Path) -> None:
    formats: Registry[Loader] = Registry("dataset format")
    formats.register("mine", lambda path: (Instance("q1", GOOD["query"]),))
    (tmp_path / "x.txt").touch()
    with pytest.raises(SettingError) as raised:
        Linter({}, (), formats, Registry("corpus format"))(f"mine:{tmp_path / 'x.txt'}")
    assert str(raised.value) == f"the loader of 'mine' failed on {tmp_path / 'x.txt'}: KeyError: 'query'"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"noise_rate": 2}, "lint: noise_rate: found 2, wanted a number in 0..1"),
        ({"passages": -1}, "lint: passages: found -1, wanted an integer of at least 0"),
        ({"ability": "noise"}, "lint: unknown ability 'noise'; "),
        ({"assembly": "rgb"}, "lint: unknown assembly 'rgb'; "),
        ({"noise_rate": 0.8, "correct_rate": 0.4}, "lint: noise_rate 0.8 and correct_rate 0.4 add up to more than 1; "),
        ({"ability": "noise_robustness", "correct_rate": 0.4}, "lint: correct_rate has no effect on noise_robustness"),
        ({"corpus": "nope.jsonl"}, "rag_corpus: no such file: "),
    ],
)
def test_invalid_settings_are_refused_before_the_dataset_is_read(settings: dict[str, Any], message: str) -> None:
    with pytest.raises((SettingError, DataError)) as raised:
        lint("jsonl:nope.jsonl", **settings)
    assert str(raised.value).startswith(message)


def test_findings_contain_no_terminal_codes() -> None:
    [finding] = lint([record("q\x1b[2J\n", gold=(("a\x1b,b",),))])
    assert finding.id == "q\x1b[2J\n"
    assert str(finding).isprintable()


def test_every_finding_has_the_name_of_a_check(fixtures_dir: Path) -> None:
    """Covers the checks that fail on the fixtures; each check has its own tests, too."""
    checks = {
        finding.check for path in (fixtures_dir / "datasets" / "rgb").glob("*.json") for finding in lint(f"rgb:{path}")
    }
    assert checks
    assert checks <= {*BUILTIN, "unreadable"}
