"""The BM25 index: scores like bm25s, stable order, equal in memory and on disk."""

from __future__ import annotations

import pickletools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bm25s
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_rageval.errors import DataError
from pytest_rageval.retrieval import postings
from pytest_rageval.retrieval.bm25_index import Bm25Index

Documents = list[list[str]]

some_terms = st.lists(st.sampled_from("abcdefgh"), max_size=8)
some_documents = st.lists(some_terms, min_size=1, max_size=25)
some_weights = st.tuples(st.sampled_from([0.0, 0.9, 1.5]), st.sampled_from([0.0, 0.4, 1.0]))


def bm25s_scores(documents: Documents, query: Sequence[str], k1: float, b: float) -> Any:
    """Return the scores of bm25s with an index that it builds itself."""
    index = bm25s.BM25(k1=k1, b=b)
    index.index(documents, create_empty_token=False, show_progress=False)
    return index.get_scores_from_ids(index.get_tokens_ids(list(query)))


@settings(deadline=None)
@given(some_documents.filter(any), some_terms.filter(len), some_weights)
def test_scores_equal_those_of_bm25s(documents: Documents, query: list[str], weights: tuple[float, float]) -> None:
    scores = Bm25Index(documents, *weights).scores(query)
    np.testing.assert_allclose(scores, bm25s_scores(documents, query, *weights), rtol=1e-6, atol=0)


@settings(deadline=None)
@given(some_documents, some_terms, st.integers(1, 30))
def test_the_best_documents_are_ordered_by_score_then_position(documents: Documents, query: list[str], k: int) -> None:
    index = Bm25Index(documents, 0.9, 0.4)
    scores = index.scores(query).tolist()
    order = sorted((place for place, score in enumerate(scores) if score > 0), key=lambda place: -scores[place])
    assert index.best(query, k) == [(place, scores[place]) for place in order[:k]]


@pytest.mark.parametrize("block", [1, 3, 7])
def test_postings_do_not_depend_on_the_block_size(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    documents = [[f"w{(i * j) % 11}" for j in range(i % 5)] for i in range(40)]
    whole = postings.postings_of(documents, 0.9, 0.4)
    monkeypatch.setattr(postings, "BLOCK", block)
    pieces = postings.postings_of((iter(terms) for terms in documents), 0.9, 0.4)
    assert whole.vocabulary == pieces.vocabulary
    for name, kind in (("data", "float32"), ("indices", "int32"), ("indptr", "int64")):
        assert getattr(whole, name).dtype == kind
        np.testing.assert_array_equal(getattr(whole, name), getattr(pieces, name))
    assert whole.documents == pieces.documents == 40


@pytest.mark.parametrize(
    "documents", [[["a", "b", "a"], ["b"], [], ["铁路", "c"]], [[], []], [["a"] * 70_000, ["a"]]], ids=str
)
def test_a_saved_index_gives_the_same_results_and_contains_no_pickle(tmp_path: Path, documents: Documents) -> None:
    index = Bm25Index(documents, 0.9, 0.4)
    index.save(tmp_path)
    loaded_index = Bm25Index.load(tmp_path)
    for query in (["a"], ["b", "b", "铁路"], ["unheard-of"]):
        assert loaded_index.best(query, 9) == index.best(query, 9)
    assert {path.suffix for path in tmp_path.iterdir()} == {".npy", ".json"}
    for path in tmp_path.glob("*.npy"):
        assert not np.load(path, allow_pickle=False).dtype.hasobject
    for path in tmp_path.iterdir():
        with pytest.raises(ValueError, match=r"pickle|opcode"):
            list(pickletools.genops(path.read_bytes()))


def test_a_loaded_index_is_mapped_into_memory(tmp_path: Path) -> None:
    index = Bm25Index([["a", "b"], ["b"]], 0.9, 0.4)
    index.save(tmp_path)
    loaded_index = Bm25Index.load(tmp_path)
    scores = loaded_index._index.scores
    assert all(isinstance(scores[name], np.memmap) for name in ("data", "indices", "indptr"))
    assert loaded_index.resident_bytes == index.resident_bytes > 3 * 8


@pytest.mark.parametrize("name", ["params.index.json", "vocab.index.json", "data.csc.index.npy"])
@pytest.mark.parametrize("content", [b"", b"{", b"\x80\x04N."])
def test_a_damaged_file_is_refused(tmp_path: Path, name: str, content: bytes) -> None:
    Bm25Index([["a"]], 0.9, 0.4).save(tmp_path)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match="holds no index of bm25s; remove it to rebuild the index"):
        Bm25Index.load(tmp_path)


def test_any_changed_byte_on_disk_is_reported_or_harmless(tmp_path: Path) -> None:
    Bm25Index([["a", "b"], ["b"], ["c", "a"]], 0.9, 0.4).save(tmp_path)
    errors = 0
    for path in sorted(tmp_path.glob("*.npy")):
        whole = path.read_bytes()
        for at in range(len(whole)):
            path.write_bytes(bytes((*whole[:at], whole[at] ^ 0x80, *whole[at + 1 :])))
            try:
                assert all(position < 3 for position, _ in Bm25Index.load(tmp_path).best(["a", "b", "c"], 3))
            except DataError as error:
                errors += str(error).endswith("holds no index of bm25s; remove it to rebuild the index")
        path.write_bytes(whole)
    assert errors > 300
