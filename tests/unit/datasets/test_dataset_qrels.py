"""Relevance judgements in the formats of TREC and BEIR."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_rageval.datasets.jsonl import load
from pytest_rageval.datasets.qrels import read_qrels
from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.errors import DataError
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.model.sample import Sample

METRICS = Catalog().metrics

HEADER = "query-id\tcorpus-id\tscore\n"
COLUMNS_EXPECTED = (
    "wanted 4 (query, iteration, document, grade), or the header query-id, corpus-id, score between tabs "
    "in the first line"
)


def test_the_trec_format_is_read(fixtures_dir: Path) -> None:
    assert read_qrels(fixtures_dir / "datasets" / "cases.qrels") == {
        "aliases": {"bridge#1": 2, "bridge#4": -1},
        "5": {"bücher": 1},
        "elsewhere": {"x": 1},
    }


def test_a_record_accepts_the_same_grades_as_a_qrels_file(tmp_path: Path) -> None:
    """A grade below 1 is not relevant, like in trec_eval."""
    record = {"id": "q", "question": "Q?", "answers": ["A"], "qrels": {"d1": 2, "d2": -1, "d3": 0, "d4": -2}}
    (tmp_path / "cases.jsonl").write_text(json.dumps(record), encoding="utf-8")
    (tmp_path / "judged.qrels").write_text("q 0 d1 2\nq 0 d2 -1\nq 0 d3 0\nq 0 d4 -2\n", encoding="utf-8")
    (instance,) = load(tmp_path / "cases.jsonl")
    assert instance.qrels == read_qrels(tmp_path / "judged.qrels")["q"]
    ranking = Ranking(tuple(ScoredPassage(name) for name in ("d2", "d1", "d4")))
    sample = Sample(Case("q", instance, None, {}), Answer("A", ranking))
    clipped = replace(instance, qrels={name: max(grade, 0) for name, grade in instance.qrels.items()})
    for name in ("nDCG@3", "AP", "P@3", "RR", "R@3"):
        score = METRICS.get(name).compute
        assert score(sample) == score(replace(sample, case=Case("q", clipped, None, {})))
    assert METRICS.get("RR").compute(sample).value == 0.5


def test_the_beir_format_is_read(tmp_path: Path) -> None:
    path = tmp_path / "dev.tsv"
    path.write_bytes(b"\xef\xbb\xbf" + HEADER.encode() + b"\r\nq 1\td 1\t2\r\nq 1\td2\t0")
    assert read_qrels(path) == {"q 1": {"d 1": 2, "d2": 0}}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "1: the file holds no judgement; it needs at least one"),
        (HEADER, "1: the file holds no judgement; it needs at least one"),
        ("q 0 d 1\nq 0 d", f"2: found 3 columns in 'q 0 d', {COLUMNS_EXPECTED}"),
        ("q\td\t1", f"1: found 3 columns in 'q\\td\\t1', {COLUMNS_EXPECTED}"),
        ("q 0 d 1 x", f"1: found 5 columns in 'q 0 d 1 x', {COLUMNS_EXPECTED}"),
        ("q 0 d 1\n" + HEADER, f"2: found 3 columns in 'query-id\\tcorpus-id\\tscore', {COLUMNS_EXPECTED}"),
        (HEADER + "q 0 d 1", "2: found 1 columns in 'q 0 d 1', wanted the 3 of the header between tabs"),
        (HEADER + "q\t\t1", "2: found 3 columns in 'q\\t\\t1', wanted the 3 of the header between tabs"),
        ("q 0 d 1.5", "1: grade: found '1.5', wanted an integer"),
        ("q 0 d ２", "1: grade: found '２', wanted an integer"),
        ("q 0 d 1\n\nq 0 d 0",
         "3: the document 'd' has the grade 0 for the query 'q', and 1 in an earlier line; remove one"),
    ],
)  # fmt: skip
def test_an_invalid_line_is_refused_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, problem: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.txt").write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as error:
        read_qrels(Path("q.txt"))
    assert str(error.value) == f"q.txt:{problem}"


def test_a_binary_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_bytes(b"q 0 d 1\nq 0 \xff 1\n")
    with pytest.raises(DataError, match=r"q\.txt:2: byte 0xff at offset 12 is not UTF-8"):
        read_qrels(tmp_path / "q.txt")
    with pytest.raises(DataError, match="is a directory; name a file in it"):
        read_qrels(tmp_path)
