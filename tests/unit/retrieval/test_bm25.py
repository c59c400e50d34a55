from __future__ import annotations

import logging
import math
import subprocess
import sys
from collections.abc import Sequence

import pytest

from pytest_rageval.errors import CaseError, SettingError
from pytest_rageval.model.case import Passage
from pytest_rageval.model.protocols import Retriever
from pytest_rageval.registry import Registry
from pytest_rageval.retrieval import BUILTIN, RetrieverFactory, RetrieverParts
from pytest_rageval.retrieval.bm25 import build
from pytest_rageval.retrieval.bm25_index import Bm25Index

CORPUS = (
    Passage("d1", "The harbour ferry leaves at noon.", title="Ferries"),
    Passage("d2", "The mountain railway was opened by the mayor."),
    Passage("d3", "Nothing here concerns transport."),
    Passage("d4", "山间铁路由市长剪彩通车。"),
)


def bm25(corpus: Sequence[Passage], **params: object) -> Retriever:
    return build(RetrieverParts(tuple(corpus), params))


def test_the_best_passage_comes_first_with_its_text_title_and_score() -> None:
    ranking = bm25(CORPUS).search("When does the FERRY leave the harbour?", 2)
    best = ranking[0]
    assert (best.doc_id, best.text, best.title) == ("d1", CORPUS[0].text, "Ferries")
    assert best.score is not None
    assert best.score > (ranking[1].score or 0.0) > 0.0


def test_bm25_is_registered_and_is_a_retriever() -> None:
    retriever = Registry[RetrieverFactory]("retriever", BUILTIN).get("bm25")(RetrieverParts(CORPUS))
    assert isinstance(retriever, Retriever)


def test_scores_equal_those_of_lucene() -> None:
    k1, b = 0.9, 0.4
    documents = [["a", "b", "a"], ["b"], ["c", "c"]]
    idf = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    expected = idf * 2 / (2 + k1 * (1 - b + b * 3 / 2))
    assert Bm25Index(documents, k1, b).scores(["a"]).tolist() == pytest.approx([expected, 0.0, 0.0])


def test_titles_are_searched() -> None:
    assert bm25(CORPUS).search("ferries", 5).doc_ids == ("d1",)


def test_chinese_is_searched_by_word() -> None:
    assert bm25(CORPUS).search("谁为铁路剪彩？", 5).doc_ids == ("d4",)


def test_ties_keep_the_order_of_the_corpus() -> None:
    equal_passages = [Passage(name, "twin text") for name in ("z", "a", "m")]
    assert bm25(equal_passages).search("twin", 3).doc_ids == ("z", "a", "m")
    assert bm25(equal_passages).search("twin", 2).doc_ids == ("z", "a")


def test_passages_without_a_term_of_the_query_are_not_returned() -> None:
    assert bm25(CORPUS).search("railway", 4).doc_ids == ("d2",)


def test_k_above_the_corpus_size_returns_all() -> None:
    assert len(bm25(CORPUS).search("the", 1000)) == 2


@pytest.mark.parametrize("query", ["?!…", "unheard-of", "\u202e"])
def test_a_query_without_a_match_finds_nothing(query: str) -> None:
    assert len(bm25(CORPUS).search(query, 5)) == 0


@pytest.mark.parametrize("text", ["", " ", "...", "\u200f"])
def test_a_corpus_without_words_finds_nothing(text: str) -> None:
    assert len(bm25([Passage("d", text)]).search("anything", 5)) == 0


@pytest.mark.parametrize("k", [0, -1])
def test_k_below_one_is_an_error(k: int) -> None:
    with pytest.raises(SettingError, match=f"at least 1 passage, not {k}"):
        bm25(CORPUS).search("ferry", k)


def test_a_blank_query_is_an_error() -> None:
    with pytest.raises(CaseError, match="an empty query cannot be searched for"):
        bm25(CORPUS).search(" ", 5)


def test_an_empty_corpus_is_an_error() -> None:
    with pytest.raises(SettingError, match="corpus of the bm25 retriever is empty"):
        bm25([])


def test_a_duplicate_id_is_an_error() -> None:
    with pytest.raises(SettingError, match="two passages with the id 'd1'"):
        bm25([Passage("d1", "one"), Passage("d1", "two")])


def test_indexing_prints_and_logs_nothing(capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    bm25(CORPUS).search("ferry", 1)
    assert capfd.readouterr() == ("", "")
    assert caplog.records == []


def test_the_order_does_not_depend_on_the_hash_seed() -> None:
    program = (
        "from pytest_rageval.model.case import Passage\n"
        "from pytest_rageval.retrieval.bm25 import build\n"
        "from pytest_rageval.retrieval.retriever_parts import RetrieverParts\n"
        "corpus = tuple(Passage(str(i), f'word{i % 7} other{i % 3} shared text {i % 2}') for i in range(60))\n"
        "print([(s.doc_id, s.score) for s in build(RetrieverParts(corpus)).search('word1 other2 shared 1 text', 30)])\n"
    )
    processes = [
        subprocess.run([sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True)
        for seed in ("1", "2")
    ]
    assert processes[0].stdout == processes[1].stdout != b""


def test_importing_the_module_imports_no_numpy() -> None:
    program = (
        "import sys, pytest_rageval.retrieval.bm25, pytest_rageval.retrieval.index_store\n"
        "print({'numpy', 'bm25s', 'rjieba', 'filelock', 'Stemmer'} & set(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout.strip() == b"set()"
