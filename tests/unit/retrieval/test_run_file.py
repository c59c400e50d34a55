"""The retriever run: rankings from a file, matched by case id or question."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_rageval.errors import CaseError, DataError, SettingError
from pytest_rageval.model.case import Passage
from pytest_rageval.model.current import CASE_IDS
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.registry import Registry
from pytest_rageval.retrieval import BUILTIN, FAMILIES, RetrieverFactory, RetrieverParts

RUN = "q1 Q0 a 1 1 t\nq1 Q0 b 2 3 t\nq1 Q0 c 3 3 t\n"
CORPUS = tuple(Passage(name, f"text of {name}", "T", page="p") for name in "abc")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "bm25.trec").write_text(RUN)
    (tmp_path / "runs" / "rankings.jsonl").write_text(
        '{"id": "q1", "ranking": [{"id": "x", "text": "file text"}, {"id": "a"}]}\n'
        '{"question": "Where?", "ranking": []}\n'
    )
    return tmp_path


def factory(name: str) -> RetrieverFactory:
    return Registry[RetrieverFactory]("retriever", BUILTIN, families=FAMILIES).get(name)


def ranking_of(name: str, *ids: str, k: int = 5, passages: tuple[Passage, ...] = (), query: str = "Who?") -> Ranking:
    outer = CASE_IDS.set(ids)
    try:
        return factory(name)(RetrieverParts(passages, folder=Path.cwd())).search(query, k)
    finally:
        CASE_IDS.reset(outer)


def test_a_run_is_sorted_like_in_trec_eval(folder: Path) -> None:
    assert ranking_of("run:runs/bm25.trec", "data:q1", "q1").doc_ids == ("c", "b", "a")
    assert ranking_of("run:runs/bm25.trec", "q1", k=1).items == (ScoredPassage("c", 3.0),)


def test_missing_texts_come_from_the_corpus(folder: Path) -> None:
    first, *_ = ranking_of("run:runs/bm25.trec", "q1", passages=CORPUS)
    assert first == ScoredPassage("c", 3.0, "text of c", "T", "p")
    with_text, with_id = ranking_of("run:runs/rankings.jsonl", "q1", passages=CORPUS)
    assert (with_text.text, with_id.text) == ("file text", "text of a")


def test_a_case_may_be_found_by_its_question(folder: Path) -> None:
    assert ranking_of("run:runs/rankings.jsonl", "other", query="Where?") == Ranking()
    assert ranking_of("run:runs/rankings.jsonl", query="Where?") == Ranking()


def test_a_case_missing_in_the_file_is_an_error(folder: Path) -> None:
    with pytest.raises(CaseError, match=r"^runs/bm25.trec has no ranking of the id 'q2'; add one \(.*\), or deselect"):
        ranking_of("run:runs/bm25.trec", "data:q2", "q2")
    with pytest.raises(CaseError, match="no ranking of the question 'Who") as caught:
        ranking_of("run:runs/bm25.trec")
    assert caught.value.kind == "not_in_run"


def test_invalid_settings_and_files_are_reported_in_one_sentence(folder: Path) -> None:
    with pytest.raises(SettingError, match="the retriever 'run:' names no file; write run:FILE"):
        factory("run:")
    with pytest.raises(DataError, match=r"^no.trec: no such file; the FILE of rag_retriever = run:FILE is relative to"):
        ranking_of("run:no.trec")
    with pytest.raises(DataError, match=r"^runs/bm25.trec: the passage 'b' of the id 'q1' is not in rag_corpus; set"):
        ranking_of("run:runs/bm25.trec", "q1", passages=CORPUS[:1])
    with pytest.raises(SettingError, match="unknown setting 'k1'"):
        factory("run:runs/bm25.trec")(RetrieverParts((), {"k1": 1}))
    with pytest.raises(SettingError, match="at least 1 passage, not 0"):
        ranking_of("run:runs/bm25.trec", "q1", k=0)
