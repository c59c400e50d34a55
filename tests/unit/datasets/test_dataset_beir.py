"""Datasets in BEIR folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_rageval.datasets import beir
from pytest_rageval.errors import DataError

QUERIES = '{"_id": "1", "text": "One?"}\n{"_id": "2", "text": "Two?"}'
TEST = "query-id\tcorpus-id\tscore\n1\td1\t1"


def folder(tmp_path: Path, queries: str | None = QUERIES, test: str | None = TEST) -> Path:
    path = tmp_path / "mill"
    (path / "qrels").mkdir(parents=True)
    for name, text in (("queries.jsonl", queries), ("qrels/test.tsv", test)):
        if text is not None:
            (path / name).write_text(text, encoding="utf-8")
    return path


def test_the_judged_queries_of_the_test_split_are_instances(fixtures_dir: Path) -> None:
    one, two = beir.load(fixtures_dir / "datasets" / "beir")
    assert (one.id, one.question, one.qrels) == ("1", "how do tides move the mill", {"m1": 1, "m2": 0})
    assert (one.gold, one.passages, one.provenance) == ((), None, ())
    assert two.qrels == {"m2": 2, "m1": 1}
    assert two.facets == {"dataset": "beir", "language": "en", "topic": "Water"}
    assert two.origin.endswith("beir/queries.jsonl:2")


def test_another_split_is_named_by_its_file(fixtures_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (three,) = beir.load(fixtures_dir / "datasets" / "beir" / "qrels" / "dev.tsv")
    assert (three.id, three.language, three.qrels, three.facets["dataset"]) == ("3", "zh", {"m3": 1}, "beir")
    monkeypatch.chdir(fixtures_dir / "datasets" / "beir" / "qrels")
    assert beir.load(Path("dev.tsv"))[0].id == "3"


def test_the_loader_lists_its_files(fixtures_dir: Path) -> None:
    path = fixtures_dir / "datasets" / "beir"
    assert beir.load.files(path) == (path / "queries.jsonl", path / "qrels" / "test.tsv")
    assert beir.load.files(path / "qrels" / "dev.tsv") == (path / "queries.jsonl", path / "qrels" / "dev.tsv")


@pytest.mark.parametrize(
    ("queries", "test", "message"),
    [
        (None, TEST, "mill/queries.jsonl: no such file; a BEIR folder needs this file with its queries"),
        (QUERIES, None, "mill/qrels/test.tsv: no such file; add the file with the judgements"),
        (QUERIES, TEST + "\n9\td\t1", "mill/qrels/test.tsv: judges the query '9', which mill/queries.jsonl *"),
        ('{"_id": "1"}', TEST, "mill/queries.jsonl:1: the field text is missing, wanted a string that is not empty"),
        (
            '{"id": "1", "text": "One?"}',
            TEST,
            "mill/queries.jsonl:1: the field _id is missing, wanted an integer or a string that is not empty; "
            "the key 'id' is similar",
        ),
        (QUERIES + '\n{"_id": 1, "text": "?"}', TEST, "mill/queries.jsonl:3: the _id '1' is already in line 1, *"),
        (QUERIES, TEST + "\tx", "mill/qrels/test.tsv:2: found 4 columns in *"),
    ],
)  # fmt: skip
def test_an_invalid_folder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, queries: str | None, test: str | None, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError) as error:
        beir.load(folder(tmp_path, queries, test))
    assert str(error.value).startswith(message.rstrip("*"))


def test_the_error_without_a_test_split_names_another_split(tmp_path: Path) -> None:
    path = folder(tmp_path, test=None)
    (path / "qrels" / "dev.tsv").write_text(TEST)
    with pytest.raises(DataError, match=r"no such file; name a split of the folder, for example qrels/dev\.tsv$"):
        beir.load(path)
