"""Runs of retrievers in TREC's format, and recorded rankings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_rageval.datasets.runs import load_run
from pytest_rageval.errors import DataError
from pytest_rageval.model.ranking import Ranking, ScoredPassage


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, text: str) -> Path:
    path = folder / "run"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_run_is_read_like_in_trec_eval(folder: Path) -> None:
    run = load_run(write(folder, "\ufeffq1 Q0 d1 9 -1.5 tag\r\nq2\tQ0\td1\t1\t2\ttag\n\nq1  0  d2 x 1e3 other\n"))
    assert run == {
        ("id", "q1"): Ranking((ScoredPassage("d1", -1.5), ScoredPassage("d2", 1000.0))),
        ("id", "q2"): Ranking((ScoredPassage("d1", 2.0),)),
    }


def test_recorded_rankings_are_found_by_id_or_question(folder: Path) -> None:
    rows = [
        {"id": 1, "answer": "not read", "noise_rate": 0.4, "ranking": [{"id": "d1", "score": 1, "text": "one"}]},
        {"question": "Where?", "ranking": [{"doc_id": "d2"}]},
        {"id": "nothing", "ranking": []},
    ]
    expected = {
        ("id", "1"): Ranking((ScoredPassage("d1", 1.0, "one"),)),
        ("question", "Where?"): Ranking((ScoredPassage("d2"),)),
        ("id", "nothing"): Ranking(),
    }
    assert load_run(write(folder, "\n".join(map(json.dumps, rows)))) == expected
    assert load_run(write(folder, json.dumps(rows))) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "run:1: the file holds no ranking; it needs at least one"),
        (
            "q Q0 d 1 2 t\nq Q0 d 1\n",
            "run:2: found 4 columns in 'q Q0 d 1', wanted 6 (query Q0 document rank score run)",
        ),
        ("q Q0 d 1 high t", "run:1: score: found 'high', wanted a finite number"),
        ("q Q0 d 1 nan t", "run:1: score: found 'nan', wanted a finite number"),
        (
            "q Q0 d 1 2 t\np Q0 d 1 2 t\nq Q0 d 2 1 t",
            "run:3: the document 'd' is ranked for the query 'q' already, wanted each once",
        ),
        ('{"id": "a"}', "run:1: the field ranking is missing, wanted a list of objects with id, score and text"),
        ('{"ranking": []}', "run:1: the field question is missing, wanted a string that is not empty"),
        ('{"id": "a", "ranking": [{"id": "d", "score": "x"}]}', "run:1: ranking[0].score: found 'x', wanted a number"),
        (
            '{"id": "a", "ranking": []}\n{"id": "a", "ranking": []}',
            "run:2: a ranking of the id 'a' is already in line 1, wanted each once",
        ),
        (
            '{"id": "a", "ranking": [{"id": "d"}, {"id": "d"}]}',
            "run:1: ranking[1]: the document 'd' is already at ranking[0], wanted each once",
        ),
    ],
)
def test_an_invalid_run_is_refused_with_its_line(folder: Path, text: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        load_run(write(folder, text))
    assert str(caught.value) == message
