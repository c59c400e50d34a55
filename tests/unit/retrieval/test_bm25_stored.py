"""The BM25 index on disk: cache key, facts and settings."""

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
from pytest_rageval.retrieval.index_store import IndexStore
from pytest_rageval.retrieval.retriever_parts import RetrieverParts, digest_of

CORPUS = tuple(Passage(f"d{i}", f"twin text w{i % 7} w{i % 3}", f"Title {i}") for i in range(30))


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> IndexStore:
    monkeypatch.setattr(bm25, "MIN_STORED", len(CORPUS))
    return IndexStore(tmp_path / "indexes")


def retriever_of(
    store: IndexStore | None, corpus: tuple[Passage, ...] = CORPUS, digest: str = "", **params: object
) -> Any:
    return bm25.build(RetrieverParts(corpus, params, digest, store))


def results(retriever: Retriever, query: str, k: int = 5) -> list[tuple[str, float | None]]:
    return [(passage.doc_id, passage.score) for passage in retriever.search(query, k)]


def test_the_index_is_built_once_and_finds_the_same_as_in_memory(store: IndexStore) -> None:
    first, second, in_memory = retriever_of(store), retriever_of(store), retriever_of(None)
    assert [index.built for index in store.requested_indexes] == [True, False]
    for query in ("twin", "w2 w5", "TITLE 7", "nowhere"):
        assert results(first, query) == results(second, query) == results(in_memory, query)


def test_a_small_corpus_writes_nothing(store: IndexStore) -> None:
    assert len(results(retriever_of(store, CORPUS[:-1]), "twin")) == 5
    assert not store.folder.exists()


def test_an_explicit_digest_gives_the_same_index(store: IndexStore) -> None:
    retriever_of(store)
    retriever_of(store, digest=digest_of(CORPUS))
    assert [index.built for index in store.requested_indexes] == [True, False]


@pytest.mark.parametrize(
    "change",
    [
        {"corpus": CORPUS[::-1]},
        {"corpus": (Passage("d0", "another text"), *CORPUS[1:])},
        {"k1": 1.2},
        {"b": 0.75},
        {"stemmer": "english"},
    ],
    ids=str,
)
def test_another_corpus_or_setting_builds_another_index(store: IndexStore, change: dict[str, Any]) -> None:
    retriever_of(store)
    assert results(retriever_of(store, **change), "twin text") != []
    assert [index.built for index in store.requested_indexes] == [True, True]


def test_another_tokenizer_version_builds_another_index(store: IndexStore, monkeypatch: pytest.MonkeyPatch) -> None:
    retriever_of(store)
    monkeypatch.setattr(terms, "words_version", lambda: "next")
    retriever_of(store)
    assert [index.built for index in store.requested_indexes] == [True, True]


def test_facts_describe_an_index_on_disk_and_one_in_memory(store: IndexStore) -> None:
    on_disk, in_memory = retriever_of(store, k1=1.2).facts, retriever_of(None).facts
    names = {"retriever", "passages", "k1", "b", "stemmer", "build_s", "load_s", "disk_bytes", "resident_bytes"}
    assert set(on_disk) == set(in_memory) == names
    assert {name: on_disk[name] for name in ("retriever", "passages", "k1", "b", "stemmer")} == {
        "retriever": "bm25", "passages": 30, "k1": 1.2, "b": 0.4, "stemmer": "none"
    }  # fmt: skip
    assert on_disk["disk_bytes"] == store.requested_indexes[0].disk_bytes > on_disk["resident_bytes"] / 2
    assert on_disk["build_s"] > 0 < on_disk["load_s"]
    assert in_memory["build_s"] > 0
    assert in_memory["load_s"] is in_memory["disk_bytes"] is None
    assert all(type(value) in (str, int, float, type(None)) for value in (*on_disk.values(), *in_memory.values()))


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
def test_an_invalid_setting_is_refused(params: dict[str, Any], problem: str) -> None:
    with pytest.raises(SettingError, match=problem):
        retriever_of(None, **params)


def test_k1_and_b_decide_the_order() -> None:
    corpus = (Passage("short", "ferry"), Passage("often", "ferry ferry ferry and many words beside it in the text"))
    assert retriever_of(None, corpus, b=1.0).search("ferry", 1).doc_ids == ("short",)
    assert retriever_of(None, corpus, b=0.0).search("ferry", 1).doc_ids == ("often",)
    assert len({score for _, score in results(retriever_of(None, corpus, k1=0.0), "ferry")}) == 1


def test_english_words_are_found_by_their_stems_and_chinese_words_unchanged() -> None:
    corpus = (Passage("en", "Ferries were Leaving."), Passage("zh", "山间铁路由市长剪彩通车。"))
    stemmed, plain = retriever_of(None, corpus, stemmer="english"), retriever_of(None, corpus)
    assert stemmed.search("When does a ferry leave?", 5).doc_ids == ("en",)
    assert plain.search("When does a ferry leave?", 5).doc_ids == ()
    assert results(stemmed, "谁为铁路剪彩？") == results(plain, "谁为铁路剪彩？") != []


def test_stems_are_the_same_in_every_thread() -> None:
    retriever = retriever_of(None, stemmer="english")
    outcomes: list[object] = []
    threads = [Thread(target=lambda: outcomes.append(results(retriever, "texts of twins"))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == [results(retriever, "twin text")] * 3


def test_a_missing_stemmer_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "Stemmer", None)
    with pytest.raises(MissingDependencyError, match=r"stemmer = english.*pip install 'pytest-rageval\[stemming\]'"):
        retriever_of(None, stemmer="english")


def test_a_truncated_index_is_refused(store: IndexStore) -> None:
    retriever_of(store)
    data = store.requested_indexes[0].folder / "data.csc.index.npy"
    data.write_bytes(data.read_bytes()[:-4])
    with pytest.raises(DataError, match=r"data\.csc\.index\.npy: has .* bytes, but was written with .*; remove"):
        retriever_of(store)


def test_a_watched_corpus_is_read_once(store: IndexStore) -> None:
    progress: list[tuple[str, int]] = []

    def watch(items: Any, doing: str) -> Any:
        items = list(items)
        progress.append((doing, len(items)))
        return items

    bm25.build(RetrieverParts(CORPUS, store=store, watch=watch))
    assert progress == [("indexing", 30)]
