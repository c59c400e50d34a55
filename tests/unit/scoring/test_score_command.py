"""`rageval score`: its output, its files and its errors."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from support.codes import without_code
from support.samples.recorded_data import write_rows

from pytest_rageval.cli import main
from pytest_rageval.scoring.parts import read_part

Row = dict[str, Any]
Command = Callable[..., tuple[int, str]]

ENTRY = [sys.executable, "-c", "import sys; from pytest_rageval.cli import main; sys.exit(main())"]
CASES: list[Row] = [
    {"id": f"q{at}", "question": "Capital?", "answers": ["Paris"], "topic": ("Fares", "Funds")[at % 2]}
    for at in range(8)
]
ANSWERS: list[Row] = [{"id": f"q{at}", "answer": "Paris" if at else "Rome"} for at in range(8)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with cases and answers."""
    write_rows(tmp_path / "cases.jsonl", CASES)
    write_rows(tmp_path / "answers.jsonl", ANSWERS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def score(folder: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    """Return a function that runs `rageval score`; it returns the status and the output or the error."""

    def call(*args: str, files: tuple[str, ...] = ("jsonl:cases.jsonl", "answers.jsonl"), out: str = "scores",
             jobs: str = "1") -> tuple[int, str]:  # fmt: skip
        status = main(["score", *files, "--metrics", "accuracy", "--out", out, "--jobs", jobs, *args])
        printed, error = capsys.readouterr()
        return status, error if status == 2 else printed

    return call


SCHEMA = json.loads(files("pytest_rageval.scoring").joinpath("summary.schema.json").read_text(encoding="utf-8"))


def summary(folder: Path, out: str = "scores") -> Any:
    """Return the summary; check it with the shipped schema."""
    content = json.loads((folder / out / "summary.json").read_text(encoding="utf-8"))
    jsonschema.validate(content, SCHEMA)
    return content


def rows(folder: Path, out: str = "scores") -> list[Any]:
    return [row for part in sorted((folder / out / "cases").iterdir()) for row in read_part(part)]


def files_of(folder: Path, out: str = "scores") -> dict[str, bytes]:
    """Return the files that must not depend on processes, restarts and the order of lines."""
    paths = [*sorted((folder / out / "cases").iterdir()), folder / out / "summary.json"]
    return {path.name: path.read_bytes() for path in paths}


def test_scores_are_printed_and_written(folder: Path, score: Command) -> None:
    gates = ("--gate", "accuracy >= 0.8", "--gate", "accuracy[topic=*] >= 0.9")
    status, text = score(*gates, "--by", "topic", "--matrix", "accuracy")
    assert status == 1
    assert "8 scored" in text
    assert "PASSED  accuracy >= 0.8" in text
    assert "0.75 < 0.90 (n 4) at topic=Fares" in text
    content = summary(folder)
    assert content["counts"] == {
        "scored": 8, "errors": {}, "unused": {"n": 0, "first": []}, "unanswered": {"n": 0, "first": []}, "long": 0,
    }  # fmt: skip
    means = {each.get("value", ""): (each["mean"], each["n"]) for each in content["means"]}
    assert means == {"": (0.875, 8), "Fares": (0.75, 4), "Funds": (1.0, 4)}
    assert [gate["status"] for gate in content["gates"]] == ["passed", "failed"]
    assert content["matrices"][0]["rows"] == ["Fares", "Funds"]
    assert [row["case_id"] for row in rows(folder)] == [f"q{at}" for at in range(8)]
    assert rows(folder)[0] | {"data": "", "said": ""} == {
        "nodeid": "q0", "case_id": "q0", "testbed": "cases.jsonl", "system": "recorded", "status": "scored",
        "facet.dataset": "cases", "facet.language": "en", "facet.topic": "Fares", "facet.system": "recorded",
        "facet.workflow": "recorded", "score.accuracy": 0.0, "length": 4, "answered": True, "data": "", "said": "",
    }  # fmt: skip
    assert sorted(path.name for path in (folder / "scores").iterdir()) == [
        "cases", "manifest.json", "summary.json", "summary.txt",
    ]  # fmt: skip


def test_gates_with_a_baseline_compare_case_by_case(folder: Path, score: Command) -> None:
    many = [{"id": f"q{at}", "question": "?", "answers": ["Paris"]} for at in range(40)]
    write_rows(folder / "cases.jsonl", many)
    write_rows(folder / "answers.jsonl", [{"id": f"q{at}", "answer": "Paris"} for at in range(40)])
    assert score()[0] == 0
    write_rows(folder / "new.jsonl", [{"id": f"q{at}", "answer": "Rome" if at < 20 else "Paris"} for at in range(40)])
    against = ("--baseline", "scores", "--gate", "accuracy >= baseline - 0.01")
    status, text = score(*against, files=("jsonl:cases.jsonl", "new.jsonl"), out="new-scores")
    assert status == 1
    assert "0.50 < 0.99 (n 40, was 1.00)" in text
    assert score(*against, out="same-scores")[0] == 0


def test_answers_without_a_case_and_cases_without_an_answer_are_counted_and_named(folder: Path, score: Command) -> None:
    write_rows(folder / "answers.jsonl", [*ANSWERS[:-1], {"id": "q99", "answer": "for nobody"}])
    status, text = score()
    assert status == 0
    assert "warning: 1 recorded answer is for no case: 'q99'" in text
    assert "warning: 1 case has no answer: 'q7 (recorded)'" in text
    assert summary(folder)["counts"]["errors"] == {"no_recorded_answer": 1}
    assert score("--strict")[0] == 1


def shuffled(rows: Iterable[Mapping[str, Any]], seed: int) -> list[Mapping[str, Any]]:
    import random

    copy = list(rows)
    random.Random(seed).shuffle(copy)
    return copy


@pytest.fixture
def chunked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with data of several chunks."""
    from support.samples.recorded_data import answer_rows, case_rows

    monkeypatch.setattr("pytest_rageval.scoring.split.CHUNK_BYTES", 8_000)
    write_rows(folder / "cases.jsonl", case_rows(200))
    write_rows(folder / "answers.jsonl", answer_rows(200, seed=5))
    return folder


EXTRA_ARGS = ("--gate", "accuracy[topic=*] >= 0.1", "--by", "topic", "--matrix", "accuracy", "--cluster", "doc")


def test_scores_do_not_depend_on_processes_or_the_order_of_lines(chunked: Path, score: Command) -> None:
    from support.samples.recorded_data import answer_rows, case_rows

    assert score(*EXTRA_ARGS)[0] == 0
    assert len(list((chunked / "scores" / "cases").iterdir())) > 5
    assert score(*EXTRA_ARGS, out="four", jobs="4")[0] == 0
    write_rows(chunked / "cases.jsonl", shuffled(case_rows(200), 1))
    write_rows(chunked / "answers.jsonl", shuffled(answer_rows(200, seed=5), 2))
    assert score(*EXTRA_ARGS, out="shuffled")[0] == 0
    assert files_of(chunked) == files_of(chunked, "four") == files_of(chunked, "shuffled")


def test_a_repeated_call_and_other_gates_reuse_the_folder(chunked: Path, score: Command) -> None:
    assert score(*EXTRA_ARGS)[0] == 0
    first = files_of(chunked)
    assert score("--gate", "accuracy >= 1")[0] == 1
    assert score(*EXTRA_ARGS)[0] == 0
    assert files_of(chunked) == first


def refusal_of(score: Command, *args: str, **kwargs: Any) -> str:
    status, error = score(*args, **kwargs)
    assert status == 2, error
    assert error.startswith("rageval: ")
    assert len(error.splitlines()) == 1
    return without_code(error.removeprefix("rageval: ").strip())


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize(
    ("name", "line", "problem"),
    [
        ("cases", '{"id": "q3", "question": "?", "answers": ["Paris"]}', "the id 'q3' is already in line 4"),
        ("cases", '{"id": 1, "question": "?", "answers": ["x"]}\n{"id": "1", "question": "?", "answers": ["x"]}',
         "the id '1' is already in line 9"),
        ("cases", '{"id": "q8"', "invalid JSON at column"),
        ("cases", '{"id": "q8", "question": 3, "answers": []}', "question: found 3"),
        ("cases", '{"question": "?", "answers": ["Paris"]}', "the field id is missing"),
        ("cases", "[1]", "for a record, wanted a JSON object"),
        ("cases", '{"id": "q8", "question": "?", "answers": ["x"], "level": NaN}', "NaN"),
        ("answers", '{"id": "q3", "answer": "again"}',
         "an answer of the same system to the case 'q3' is already in line 4"),
        ("answers", '{"id": "q3"}', "the field answer is missing"),
        ("answers", '{"id": "q3", "answer": "x", "system": ["a"]}', "system: found an array of 1"),
    ],
)  # fmt: skip
def test_a_malformed_line_is_reported_in_one_sentence_with_its_place(
    folder: Path, score: Command, monkeypatch: pytest.MonkeyPatch, name: str, line: str, problem: str, jobs: str
) -> None:
    monkeypatch.setattr("pytest_rageval.scoring.split.CHUNK_BYTES", 300)
    with (folder / f"{name}.jsonl").open("a") as stream:
        stream.write(line + "\n")
    error = refusal_of(score, jobs=jobs)
    last = 8 + line.count("\n") + 1
    assert error.startswith(f"{name}.jsonl:{last}: "), error
    assert problem in error


def test_scoring_continues_in_the_same_folder_after_a_corrected_line(chunked: Path, score: Command) -> None:
    good = (chunked / "answers.jsonl").read_text()
    (chunked / "answers.jsonl").write_text(good.replace('"answer": "Paris"', '"answer": 3', 1))
    assert "answer: found 3" in refusal_of(score)
    (chunked / "answers.jsonl").write_text(good)
    assert score()[0] == 0
    assert score(out="fresh")[0] == 0
    assert files_of(chunked) == files_of(chunked, "fresh")


def test_bytes_that_are_not_utf_8_are_refused_with_their_line(folder: Path, score: Command) -> None:
    with (folder / "answers.jsonl").open("ab") as stream:
        stream.write(b'{"id": "q3", "answer": "\xff"}\n')
    assert refusal_of(score).startswith("answers.jsonl:9: byte 0xff is not UTF-8")


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (("--gate", "accuracy >= baseline"), "compares with a baseline; name it with --baseline"),
        (("--gate", "accuracy[topic=Fees] >= 0.5"), "matches no case"),
        (("--gate", "accuracy[topc=Fares] >= 0.5"), "unknown facet 'topc'"),
        (("--gate", "acuracy >= 0.5"), "unknown metric 'acuracy'"),
        (("--gate", "accuracy"), "no valid operator"),
        (("--gate", "tool_calls <= 3"), "counts steps of traces; run pytest --rag-answers"),
        (("--metrics", "accuracy_judged"), "needs verdicts"),
        (("--metrics", "people:accuracy"), "needs people's labels"),
        (("--by", "topc"), "--by names 'topc', a facet that no case has"),
        (("--cluster", "doc"), "cluster is 'doc', a facet that no case has"),
        (("--matrix", "acuracy"), "unknown metric 'acuracy'"),
        (("--baseline", "missing.json"), "missing.json cannot be read"),
        (("--jobs", "0"), "from 1 on"),
    ],
)
def test_invalid_arguments_are_refused(folder: Path, score: Command, args: tuple[str, ...], problem: str) -> None:
    assert problem in refusal_of(score, *args)


def test_files_that_cannot_be_read_are_refused(folder: Path, score: Command) -> None:
    assert "no such file" in refusal_of(score, files=("jsonl:cases.jsonl", "missing.jsonl"))
    assert "is a directory" in refusal_of(score, files=("jsonl:cases.jsonl", "."))
    assert "cases.jsonl:1: " in refusal_of(score, files=("rgb:cases.jsonl", "answers.jsonl"))
    assert "unknown dataset format" in refusal_of(score, files=("csvv:cases.jsonl", "answers.jsonl"))
    assert "format:path" in refusal_of(score, files=("cases.jsonl", "answers.jsonl"))
    (folder / "empty.jsonl").write_text("\n")
    assert refusal_of(score, files=("jsonl:cases.jsonl", "empty.jsonl")).startswith("empty.jsonl:1: the file holds no")
    assert not (folder / "scores").exists()


def test_a_folder_of_other_data_or_files_is_refused(folder: Path, score: Command) -> None:
    assert score()[0] == 0
    before = files_of(folder)
    write_rows(folder / "answers.jsonl", ANSWERS[:-1])
    assert refusal_of(score) == "scores holds scores of other data; name another folder with --out"
    assert files_of(folder) == before
    (folder / "other").mkdir()
    (folder / "other" / "thesis.txt").write_text("x")
    assert "holds files that are not scores" in refusal_of(score, out="other")
    assert "is a file" in refusal_of(score, out="answers.jsonl")


def _limit_file_size() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (400, 400))


def test_a_full_disk_is_reported_in_one_sentence_and_leaves_no_broken_file(folder: Path, score: Command) -> None:
    environment = {
        **os.environ,
        "PYTHONDONTWRITEBYTECODE": "1",
    }  # the limit would leave a truncated module in the cache
    call = [*ENTRY, "score", "jsonl:cases.jsonl", "answers.jsonl", "--metrics", "accuracy", "--out", "scores"]
    result = subprocess.run(
        call, preexec_fn=_limit_file_size, env=environment, capture_output=True, text=True, check=False
    )
    assert result.returncode == 2
    assert result.stderr.startswith("rageval: scores cannot be written: File too large; finished chunks stay")
    assert len(result.stderr.splitlines()) == 1
    assert score()[0] == 0
    fresh = files_of(folder)
    shutil.rmtree(folder / "scores")
    assert score()[0] == 0
    assert files_of(folder) == fresh


def test_without_pyarrow_rows_are_compressed_lines(
    folder: Path, score: Command, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert score()[0] == 0
    with_pyarrow = rows(folder)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert score(out="plain")[0] == 0
    assert [path.name for path in (folder / "plain" / "cases").iterdir()] == ["part-00000.jsonl.gz"]
    assert rows(folder, "plain") == with_pyarrow
    assert main(["compare", "plain", "scores"]) == 2
    assert "pip install 'pytest-rageval[parquet]'" in capsys.readouterr().err
    monkeypatch.delitem(sys.modules, "pyarrow")
    assert main(["compare", "plain", "scores"]) == 0
    assert "8 cases compared" in capsys.readouterr().out


def test_long_answers_are_scored_and_counted(folder: Path, score: Command) -> None:
    write_rows(folder / "answers.jsonl", [{**ANSWERS[0], "answer": "x" * 2**20 + " Paris"}, *ANSWERS[1:]])
    status, text = score("--gate", "accuracy >= 1")
    assert status == 0
    assert "warning: 1 answer of more than 1 MiB; all of the text was scored" in text
    assert summary(folder)["counts"]["long"] == 1


def test_all_parts_have_the_same_columns(chunked: Path, score: Command) -> None:
    from pyarrow import parquet

    assert score(*EXTRA_ARGS)[0] == 0
    columns = {tuple(parquet.read_schema(path).names) for path in (chunked / "scores" / "cases").iterdir()}
    assert len(columns) == 1
    assert {"case_id", "facet.topic", "score.accuracy", "reason.accuracy", "usage.latency_s"} <= set(*columns)
