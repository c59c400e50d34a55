"""Stored vectors: the key of an index and its cached recall."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.samples.diskann_settings import diskann
from support.samples.word_vectors import WordEncoder, sentences

from pytest_rageval.retrieval import vector_store
from pytest_rageval.retrieval.embedding import DenseSettings
from pytest_rageval.retrieval.index_store import IndexStore
from pytest_rageval.retrieval.retriever_params import Params
from pytest_rageval.retrieval.retriever_parts import RetrieverParts


@pytest.fixture
def store(tmp_path: Path) -> IndexStore:
    return IndexStore(tmp_path / "indexes")


def hnsw(**params: object) -> Any:
    pytest.importorskip("usearch", reason="the extra dense is not installed")
    from pytest_rageval.retrieval.hnsw import Hnsw

    return Hnsw.of(Params(params))


def recall(store: IndexStore, index: Any) -> object:
    parts = RetrieverParts(sentences(30), store=store)
    return vector_store.load_vectors(parts, DenseSettings("words"), WordEncoder(), index).facts["recall@10"]


@pytest.mark.parametrize("index_of", [hnsw, diskann])
def test_another_library_version_rebuilds_the_index_of_the_same_vectors(
    store: IndexStore, monkeypatch: pytest.MonkeyPatch, index_of: Any
) -> None:
    recall(store, index_of())
    monkeypatch.setattr(type(index_of()), "versions", {"library": "next"})
    recall(store, index_of())
    assert [index.built for index in store.requested_indexes] == [True, True, False, True]
    assert {path.name.partition("-")[0] for path in store.folders()} == {"vectors", index_of().name}


def test_recall_is_measured_once_per_search_setting(store: IndexStore, monkeypatch: pytest.MonkeyPatch) -> None:
    recalls = iter((0.5, 0.75, 1.0))
    monkeypatch.setattr(vector_store, "recall_at_10", lambda *_: next(recalls))
    assert [recall(store, hnsw(ef_search=size)) for size in (64, 64, 8, 64)] == [0.5, 0.5, 0.75, 0.5]
    assert len(store.folders()) == 2
    for note in store.folder.glob("hnsw-*/recall-*"):
        note.write_text("{")
    assert recall(store, hnsw()) == 1.0
