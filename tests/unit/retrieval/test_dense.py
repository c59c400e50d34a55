"""Dense retrieval with an encoder that needs no model."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.samples.diskann_settings import diskann
from support.samples.word_vectors import WordEncoder, sentences

from pytest_rageval.errors import CaseError, DataError, MissingDependencyError, SettingError
from pytest_rageval.model.case import Passage
from pytest_rageval.model.protocols import Retriever
from pytest_rageval.retrieval.dense import DenseRetriever, build, dense
from pytest_rageval.retrieval.embedding import DenseSettings
from pytest_rageval.retrieval.index_store import IndexStore
from pytest_rageval.retrieval.retriever_params import Params
from pytest_rageval.retrieval.retriever_parts import RetrieverParts
from pytest_rageval.retrieval.vectors import FILE, VectorIndex

PLAIN = DenseSettings("words")
CORPUS = (
    Passage("d1", "ferry leaves noon", title="harbour", page="p1"),
    Passage("d2", "mayor opened railway"),
    Passage("d3", "ferry leaves noon", title="harbour"),
)


def retriever_of(
    store: IndexStore | None,
    passages: tuple[Passage, ...] = CORPUS,
    settings: DenseSettings = PLAIN,
    encoder: WordEncoder | None = None,
    index: VectorIndex | None = None,
) -> DenseRetriever:
    retriever = dense(RetrieverParts(passages, store=store), settings, encoder or WordEncoder(), index)
    assert isinstance(retriever, DenseRetriever)
    return retriever


def index_of(kind: str) -> VectorIndex | None:
    if kind == "hnsw":
        pytest.importorskip("usearch", reason="the extra dense is not installed")
        from pytest_rageval.retrieval.hnsw import Hnsw

        return Hnsw.of(Params({}))
    if kind == "diskann":
        return diskann()
    return None


@pytest.fixture
def store(tmp_path: Path) -> IndexStore:
    return IndexStore(tmp_path / "indexes")


def test_the_nearest_passage_comes_first_with_its_fields(store: IndexStore) -> None:
    retriever = retriever_of(store)
    assert isinstance(retriever, Retriever)
    best, *others = retriever.search("ferry noon harbour", 2)
    assert (best.doc_id, best.text, best.title, best.page) == ("d1", "ferry leaves noon", "harbour", "p1")
    assert best.score is not None
    assert 0.5 < best.score <= 1
    assert [passage.doc_id for passage in others] == ["d3"]
    assert retriever.search("opened", 1)[0].doc_id == "d2"


def test_texts_are_embedded_with_their_prefix_and_title(store: IndexStore) -> None:
    encoder = WordEncoder()
    retriever = retriever_of(store, CORPUS[:2], DenseSettings("w", "query: ", "passage: "), encoder)
    retriever.search("ferry", 1)
    assert encoder.inputs == ["passage: harbour ferry leaves noon", "passage: mayor opened railway", "query: ferry"]


@pytest.mark.parametrize("kind", ["flat", "hnsw", "diskann"])
def test_every_index_returns_the_exact_ranking_with_ties_in_corpus_order(store: IndexStore, kind: str) -> None:
    passages = (*sentences(120), *(Passage(f"twin{n}", "kettle kettle warranty") for n in range(6)))
    exact = retriever_of(store, passages)
    retriever = retriever_of(store, passages, index=index_of(kind))
    assert retriever.search("kettle warranty", 6).doc_ids == tuple(f"twin{n}" for n in range(6))
    for query in ("ferry at noon", "tram ticket", "garden river bridge"):
        assert retriever.search(query, 10) == exact.search(query, 10)
    everything = retriever.search("museum", 1_000)
    assert sorted(everything.doc_ids) == sorted(passage.id for passage in passages)
    assert everything == exact.search("museum", 126)
    facts = retriever.facts
    assert facts["recall@10"] == 1.0
    assert (facts["index"], facts["passages"], facts["dimension"]) == (kind, 126, 16)
    assert isinstance(facts["disk_bytes"], int)
    assert facts["disk_bytes"] >= 126 * 16 * 4
    if sys.platform == "linux":
        assert isinstance(facts["resident_bytes"], int)
        assert facts["resident_bytes"] > 0


@pytest.mark.parametrize("kind", ["flat", "hnsw", "diskann"])
def test_a_corpus_of_one_passage_is_found(store: IndexStore, kind: str) -> None:
    retriever = retriever_of(store, CORPUS[:1], index=index_of(kind))
    assert retriever.search("noon", 3).doc_ids == ("d1",)
    assert retriever.facts["recall@10"] == (1.0 if kind == "flat" else None)


def test_vectors_are_computed_once_and_serve_every_index(store: IndexStore) -> None:
    first, second, third = WordEncoder(), WordEncoder(), WordEncoder()
    retriever_of(store, sentences(30), encoder=first)
    retriever_of(store, sentences(30), encoder=second)
    retriever_of(store, sentences(30), encoder=third, index=index_of("hnsw"))
    assert (len(first.inputs), second.inputs, third.inputs) == (30, [], [])


@pytest.mark.parametrize(
    "change",
    [
        {"passages": sentences(29)},
        {"encoder": WordEncoder(digest="trained")},
        {"settings": DenseSettings("w", passage_prefix="passage: ")},
        {"settings": DenseSettings("w", pooling="cls")},
        {"settings": DenseSettings("w", normalize=False)},
    ],
    ids=["corpus", "model", "prefix", "pooling", "normalize"],
)
def test_another_corpus_model_or_setting_has_other_vectors(store: IndexStore, change: Mapping[str, Any]) -> None:
    first: dict[str, Any] = {"passages": sentences(30), "encoder": WordEncoder(), "settings": DenseSettings("w")}
    retriever_of(store, **first)
    retriever_of(store, **{**first, **change})
    assert len(list(store.folder.glob("vectors-*/index.json"))) == 2


@pytest.mark.parametrize(("change", "problem"), [("model", "another model"), ("corpus", "another corpus")])
def test_a_renamed_index_is_refused(store: IndexStore, change: str, problem: str) -> None:
    retriever_of(store)
    (file,) = store.folder.glob("vectors-*/index.json")
    name = "words16" if change == "model" else RetrieverParts(CORPUS).corpus_digest
    file.write_text(file.read_text().replace(name, "else"))
    with pytest.raises(DataError, match=f"is an index of {problem}; remove it to rebuild"):
        retriever_of(store)


def test_damaged_vectors_are_refused(store: IndexStore) -> None:
    retriever_of(store)
    (file,) = store.folder.glob(f"vectors-*/{FILE}")
    whole = file.read_bytes()
    file.write_bytes(whole[:-8])
    with pytest.raises(DataError, match="has 312 bytes, but was written with 320; remove the folder"):
        retriever_of(store)
    file.write_bytes(b"x" * len(whole))
    with pytest.raises(DataError, match="cannot be read as vectors; remove the folder"):
        retriever_of(store)
    np.save(file, np.zeros((12, 4), dtype=np.float32))
    with pytest.raises(DataError, match=r"holds 12 x 4 of float32, not one vector per passage \(3\)"):
        retriever_of(store)


class FaultyEncoder(WordEncoder):
    """Return an unusable vector for each text with the word "fault"."""

    def __init__(self, fault: float) -> None:
        super().__init__()
        self.fault = fault

    def encode(self, texts: Any, /) -> Any:
        rows = super().encode(texts)
        rows[["fault" in text for text in texts]] = self.fault
        return rows


@pytest.mark.parametrize(
    ("fault", "problem"),
    [
        (np.nan, "a vector with NaN or infinity"),
        (np.inf, "a vector with NaN or infinity"),
        (0.0, "a vector of zeros, which cannot be normalised"),
    ],
)
def test_an_invalid_vector_is_reported_with_its_passage(store: IndexStore, fault: float, problem: str) -> None:
    corpus = (*CORPUS, Passage("d9", "fault"))
    with pytest.raises(SettingError, match=f"^the model gives the passage 'd9' {problem}; use"):
        retriever_of(store, corpus, encoder=FaultyEncoder(fault))
    assert not list(store.folder.glob("vectors-*/*"))
    with pytest.raises(CaseError, match=f"^the model gives the question {problem}; it cannot") as raised:
        retriever_of(store, encoder=FaultyEncoder(fault)).search("fault", 1)
    assert raised.value.kind == "bad_vector"


def test_zero_vectors_are_valid_without_normalisation(store: IndexStore) -> None:
    corpus = (*CORPUS, Passage("d9", "fault"))
    retriever = retriever_of(store, corpus, DenseSettings("w", normalize=False), FaultyEncoder(0.0))
    assert retriever.search("fault", 4).doc_ids == ("d1", "d2", "d3", "d9")


def test_without_normalisation_a_longer_vector_scores_higher(store: IndexStore) -> None:
    corpus = (Passage("once", "ferry"), Passage("thrice", "ferry ferry ferry mayor"))
    assert retriever_of(store, corpus).search("ferry", 2).doc_ids == ("once", "thrice")
    plain = retriever_of(store, corpus, DenseSettings("w", normalize=False)).search("ferry", 2)
    assert plain.doc_ids == ("thrice", "once")


def test_a_model_of_another_dimension_is_refused(store: IndexStore) -> None:
    retriever = retriever_of(store)
    retriever._encoder = WordEncoder(8)
    with pytest.raises(CaseError, match="a vector of 8 dimensions, but the index has 16"):
        retriever.search("ferry", 1)


@pytest.mark.parametrize(
    ("query", "k", "error"), [("", 1, CaseError), (" \n", 1, CaseError), ("ferry", 0, SettingError)]
)
def test_an_invalid_query_is_refused(store: IndexStore, query: str, k: int, error: type[Exception]) -> None:
    with pytest.raises(error):
        retriever_of(store).search(query, k)


def test_an_empty_corpus_is_refused(store: IndexStore) -> None:
    with pytest.raises(SettingError, match="corpus of the dense retriever is empty"):
        retriever_of(store, ())
    with pytest.raises(SettingError, match="the dense retriever has two passages with the id 'd1'"):
        retriever_of(store, (*CORPUS, CORPUS[0]))


def test_without_a_store_the_index_is_temporary() -> None:
    assert retriever_of(None).search("railway", 1).doc_ids == ("d2",)


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ({}, "the retriever 'dense' needs a model; write 'model = FOLDER or NAME'"),
        ({"model": "./nowhere"}, "has model = './nowhere', but .* has no such folder"),
        ({"model": "a/b/c"}, "has model = 'a/b/c', but .* has no such folder"),
        ({"model": 7}, "has model = 7; write a text"),
        ({"model": "m", "index": "hsnw"}, "has index = 'hsnw'; did you mean 'hnsw'"),
        ({"model": "m", "pooling": "men"}, "has pooling = 'men'; did you mean 'mean'"),
        ({"model": "m", "batch_size": 0}, "has batch_size = 0; write a whole number of 1 or more"),
        ({"model": "m", "normalize": "yes"}, "has normalize = 'yes'; write true or false"),
        ({"model": "m", "ef_search": 9}, "has the unknown setting 'ef_search'"),
        ({"model": "m", "index": "hnsw", "m": 1}, "has m = 1; write a whole number from 2 to 256"),
        ({"model": "m", "index": "diskann", "beam_width": 0}, "has beam_width = 0; write a whole number from 1 to 64"),
        (
            {"model": "m", "index": "diskann", "python": "/no/such/python"},
            "has python = '/no/such/python'; write a Python that has diskannpy",
        ),
        (
            {"model": "m", "index": "diskann", "python": "/bin/false"},
            "has python = '/bin/false'; write a Python that has diskannpy",
        ),
    ],
)
def test_an_invalid_setting_is_refused(tmp_path: Path, params: Mapping[str, object], problem: str) -> None:
    with pytest.raises(SettingError, match=f"{problem}"):
        build(RetrieverParts(CORPUS, params, folder=tmp_path))


@pytest.mark.parametrize(
    ("index", "library", "extra"),
    [("flat", "sentence_transformers", "dense"), ("hnsw", "usearch", "dense"), ("diskann", "diskannpy", "diskann")],
)
def test_a_missing_library_names_its_extra(
    monkeypatch: pytest.MonkeyPatch, index: str, library: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingDependencyError, match=rf"pip install 'pytest-rageval\[{extra}\]'"):
        build(RetrieverParts(CORPUS, {"model": "m", "index": index}))


def test_resident_bytes_are_measured_only_when_the_number_of_searches_doubles(
    store: IndexStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    retriever, count = retriever_of(store), itertools.count(1)
    monkeypatch.setattr(retriever._vectors, "resident_bytes", lambda: next(count))
    sizes: list[Any] = []
    for _ in range(100):
        retriever.search("ferry", 1)
        sizes.append(retriever.facts["resident_bytes"])
    assert sizes[0] == 1
    assert 1 < sizes[-1] <= 8


def test_facts_are_builtins_with_the_settings(store: IndexStore) -> None:
    facts = retriever_of(store, sentences(40), index=index_of("hnsw")).facts
    assert {type(value) for value in facts.values()} <= {str, int, float, bool, type(None)}
    subset = {name: facts[name] for name in ("retriever", "model", "m", "ef_construction", "ef_search", "normalize")}
    assert subset == {
        "retriever": "dense", "model": "words", "m": 16, "ef_construction": 128, "ef_search": 64, "normalize": True,
    }  # fmt: skip
    assert {"build_s", "load_s", "disk_bytes", "resident_bytes", "recall@10"} <= set(facts)
