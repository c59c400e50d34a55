"""BM25 over passages, computed by bm25s."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

from pytest_rageval.model.case import Passage
from pytest_rageval.model.protocols import Retriever
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.retrieval.bm25_index import Bm25Index
from pytest_rageval.retrieval.build_context import RetrieverParts
from pytest_rageval.retrieval.checks import check_corpus, checked
from pytest_rageval.retrieval.retriever_params import Params
from pytest_rageval.retrieval.terms import STEMMERS, Terms, terms_by, versions

__all__ = ["KEPT_FROM", "Bm25Retriever", "build"]

KEPT_FROM = 2_000
"""Passages from which on an index is kept on disk; below, building it takes a fraction of a second."""


def build(parts: RetrieverParts) -> Retriever:
    """Return BM25 over the passages, their index kept on disk where they are many.

    Its settings are ``k1`` (0.9: how fast repeated terms saturate, 0 or more), ``b`` (0.4: how much long passages are
    marked down, 0..1), both Anserini's and Pyserini's defaults, and ``stemmer`` (``none``, or ``english`` for
    Snowball's; Chinese words stay as they are).

    Raises:
        SettingError: a setting cannot be used, the corpus is empty, or two passages share an id.
        MissingDependencyError: there is no stemmer.
        DataError: the index on disk is not as it was written.
    """
    from importlib.metadata import version

    params = Params(parts.params)
    k1, b = params.number("k1", 0.9), params.number("b", 0.4, most=1.0)
    stemmer = params.choice("stemmer", "none", STEMMERS)
    params.finish()
    check_corpus(parts.passages, "bm25")
    settings = {"k1": k1, "b": b, "stemmer": stemmer}
    terms = terms_by(stemmer)

    def indexed() -> Bm25Index:
        return Bm25Index(_documents(parts, terms), k1, b)

    def saved(folder: Path) -> Mapping[str, object]:
        indexed().save(folder)
        return {"passages": len(parts.passages)}

    start = time.perf_counter()
    if parts.store is None or len(parts.passages) < KEPT_FROM:
        index = indexed()
        took: dict[str, object] = {"build_s": time.perf_counter() - start, "load_s": None, "disk_bytes": None}
    else:
        made_by = {"bm25s": version("bm25s"), **versions(stemmer)}
        stored = parts.store.get({"kind": "bm25", "corpus": parts.corpus_digest, **settings, **made_by}, saved)
        start = time.perf_counter()
        index = Bm25Index.load(stored.folder)
        loaded = time.perf_counter() - start
        took = {"build_s": stored.build_s, "load_s": loaded, "disk_bytes": stored.disk_bytes}
    return Bm25Retriever(parts.passages, index, terms, {**settings, **took})


class Bm25Retriever:
    """A `Retriever` over passages and their index.

    A passage is indexed as its title and text, in case-folded words (jieba's tokens for Chinese).

    Args:
        passages: the corpus, with unique ids.
        index: of their terms, in the same order.
        terms: cuts a query as the passages were cut.
        told: what there is to tell of the index.
    """

    in_place = True

    def __init__(
        self, passages: tuple[Passage, ...], index: Bm25Index, terms: Terms, told: Mapping[str, object]
    ) -> None:
        self._passages = passages
        self._index = index
        self._terms = terms
        self._told = told

    @cached_property
    def facts(self) -> dict[str, object]:
        """What there is to tell of it: its settings, passages, seconds to build and to load, and bytes."""
        told = {"retriever": "bm25", "passages": len(self._passages), **self._told}
        return {**told, "resident_bytes": self._index.resident_bytes}

    def search(self, query: str, k: int) -> Ranking:
        """Return the ``k`` best passages that hold a word of the query, best first, ties in corpus order.

        Fewer come back when fewer match; a query that holds no word finds nothing.

        Raises:
            SettingError: ``k`` is not positive.
            CaseError: the query is blank ("empty_query").
        """
        checked(query, k)
        best = self._index.best(self._terms(query), k)
        return Ranking(tuple(_scored(self._passages[position], score) for position, score in best))


def _scored(passage: Passage, score: float) -> ScoredPassage:
    return ScoredPassage(passage.id, score, passage.text, passage.title, passage.page, passage.span)


def _documents(parts: RetrieverParts, terms: Terms) -> Iterator[list[str]]:
    for passage in parts.watch(parts.passages, "indexing"):
        yield terms(f"{passage.title} {passage.text}")
