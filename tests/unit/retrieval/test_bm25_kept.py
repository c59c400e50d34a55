"""The index of many passages is kept on disk, by all that decides what it holds."""

from __future__ import annotations

import sys
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from pytest_rageval.errors import DataError, MissingDependencyError, SettingError
from pytest_rageval.model.case import Passage
from pytest_rageval.model.protocols import Retriever
from pytest_rageval.retrieval import bm25, terms
from pytest_rageval.retrieval.build_context import RetrieverParts, digest_of
from pytest_rageval.retrieval.index_store import IndexStore

CORPUS = tuple(Passage(f"d{i}", f"twin text w{i % 7} w{i % 3}", f"Title {i}") for i in range(30))


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> IndexStore:
    monkeypatch.setattr(bm25, "KEPT_FROM", len(CORPUS))
    return IndexStore(tmp_path / "indexes")


def made(store: IndexStore | None, corpus: tuple[Passage, ...] = CORPUS, digest: str = "", **params: object) -> Any:
    return bm25.build(RetrieverParts(corpus, params, digest, store))


def found(retriever: Retriever, query: str, k: int = 5) -> list[tuple[str, float | None]]:
    return [(passage.doc_id, passage.score) for passage in retriever.search(query, k)]


def test_it_is_built_once_and_finds_the_same_as_in_memory(store: IndexStore) -> None:
    first, second, unkept = made(store), made(store), made(None)
    assert [index.built for index in store.given] == [True, False]
    for query in ("twin", "w2 w5", "TITLE 7", "nowhere"):
        assert found(first, query) == found(second, query) == found(unkept, query)


def test_few_passages_write_nothing(store: IndexStore) -> None:
    assert len(found(made(store, CORPUS[:-1]), "twin")) == 5
    assert not store.folder.exists()


def test_a_corpus_and_its_digest_are_the_same_index(store: IndexStore) -> None:
    made(store)
    made(store, digest=digest_of(CORPUS))
    assert [index.built for index in store.given] == [True, False]


@pytest.mark.parametrize(
    "changed",
    [
        {"corpus": CORPUS[::-1]},
        {"corpus": (Passage("d0", "another text"), *CORPUS[1:])},
        {"k1": 1.2},
        {"b": 0.75},
        {"stemmer": "english"},
    ],
    ids=str,
)
def test_another_corpus_or_setting_is_another_index(store: IndexStore, changed: dict[str, Any]) -> None:
    made(store)
    assert found(made(store, **changed), "twin text") != []
    assert [index.built for index in store.given] == [True, True]


def test_another_way_to_cut_words_is_another_index(store: IndexStore, monkeypatch: pytest.MonkeyPatch) -> None:
    made(store)
    monkeypatch.setattr(terms, "words_version", lambda: "next")
    made(store)
    assert [index.built for index in store.given] == [True, True]


def test_facts_tell_of_an_index_on_disk_and_in_memory(store: IndexStore) -> None:
    kept, unkept = made(store, k1=1.2).facts, made(None).facts
    names = {"retriever", "passages", "k1", "b", "stemmer", "build_s", "load_s", "disk_bytes", "resident_bytes"}
    assert set(kept) == set(unkept) == names
    assert {name: kept[name] for name in ("retriever", "passages", "k1", "b", "stemmer")} == {
        "retriever": "bm25", "passages": 30, "k1": 1.2, "b": 0.4, "stemmer": "none"
    }  # fmt: skip
    assert kept["disk_bytes"] == store.given[0].disk_bytes > kept["resident_bytes"] / 2
    assert kept["build_s"] > 0 < kept["load_s"]
    assert unkept["build_s"] > 0
    assert unkept["load_s"] is unkept["disk_bytes"] is None
    assert all(type(value) in (str, int, float, type(None)) for value in (*kept.values(), *unkept.values()))


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ({"k1": -0.1}, "has k1 = -0.1; write a number of 0 or more"),
        ({"k1": "high"}, "has k1 = 'high'; write a number"),
        ({"b": 1.1}, "has b = 1.1; write a number from 0 to 1"),
        ({"stemmer": "englisch"}, "has stemmer = 'englisch'; did you mean 'english'"),
        ({"K1": 1}, "unknown setting 'K1'; did you mean 'k1'"),
    ],
)
def test_a_setting_that_cannot_be_used_is_refused(params: dict[str, Any], problem: str) -> None:
    with pytest.raises(SettingError, match=problem):
        made(None, **params)


def test_k1_and_b_decide_the_order() -> None:
    corpus = (Passage("short", "ferry"), Passage("often", "ferry ferry ferry and many words beside it in the text"))
    assert made(None, corpus, b=1.0).search("ferry", 1).doc_ids == ("short",)
    assert made(None, corpus, b=0.0).search("ferry", 1).doc_ids == ("often",)
    assert len({score for _, score in found(made(None, corpus, k1=0.0), "ferry")}) == 1


def test_english_words_are_found_by_their_stems_and_chinese_ones_as_they_are() -> None:
    corpus = (Passage("en", "Ferries were Leaving."), Passage("zh", "山间铁路由市长剪彩通车。"))
    stemmed, plain = made(None, corpus, stemmer="english"), made(None, corpus)
    assert stemmed.search("When does a ferry leave?", 5).doc_ids == ("en",)
    assert plain.search("When does a ferry leave?", 5).doc_ids == ()
    assert found(stemmed, "谁为铁路剪彩？") == found(plain, "谁为铁路剪彩？") != []


def test_stems_are_the_same_in_every_thread() -> None:
    retriever = made(None, stemmer="english")
    results: list[object] = []
    threads = [Thread(target=lambda: results.append(found(retriever, "texts of twins"))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [found(retriever, "twin text")] * 3


def test_a_missing_stemmer_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "Stemmer", None)
    with pytest.raises(MissingDependencyError, match=r"stemmer = english.*pip install 'pytest-rageval\[stemming\]'"):
        made(None, stemmer="english")


def test_an_index_that_was_cut_short_is_refused(store: IndexStore) -> None:
    made(store)
    data = store.given[0].folder / "data.csc.index.npy"
    data.write_bytes(data.read_bytes()[:-4])
    with pytest.raises(DataError, match=r"data\.csc\.index\.npy: has .* bytes, and was written with .*; remove"):
        made(store)


def test_a_corpus_is_gone_through_once_while_it_is_watched(store: IndexStore) -> None:
    told: list[tuple[str, int]] = []

    def watch(items: Any, doing: str) -> Any:
        items = list(items)
        told.append((doing, len(items)))
        return items

    bm25.build(RetrieverParts(CORPUS, store=store, watch=watch))
    assert told == [("indexing", 30)]
