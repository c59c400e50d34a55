"""The retriever ``bm25``: lexical search with BM25 scores."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

from pytest_rageval.model.case import Passage
from pytest_rageval.model.protocols import Retriever
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.retrieval.bm25_index import Bm25Index
from pytest_rageval.retrieval.checks import check_corpus, check_query
from pytest_rageval.retrieval.retriever_params import Params
from pytest_rageval.retrieval.retriever_parts import RetrieverParts
from pytest_rageval.retrieval.terms import STEMMERS, Terms, terms_by, versions

__all__ = ["MIN_STORED", "Bm25Retriever", "build"]

MIN_STORED = 2_000
"""Smallest number of passages whose index is stored on disk; a smaller index is built in a fraction of a second."""


def build(parts: RetrieverParts) -> Retriever:
    """Return a BM25 retriever over the passages; the index of a large corpus is stored on disk.

    Settings: ``k1`` (saturation of repeated terms, 0 or more; default 0.9), ``b`` (penalty for long passages, 0..1;
    default 0.4) and ``stemmer`` (``none``, or ``english`` for Snowball's; Chinese words are never stemmed). The
    defaults of ``k1`` and ``b`` are those of Anserini and Pyserini.

    Raises:
        SettingError: a setting is invalid, the corpus is empty, or two passages share an id.
        MissingDependencyError: the stemmer is not installed.
        DataError: the index on disk is damaged.
    """
    from importlib.metadata import version

    params = Params(parts.params)
    k1, b = params.number("k1", 0.9), params.number("b", 0.4, maximum=1.0)
    stemmer = params.choice("stemmer", "none", STEMMERS)
    params.finish()
    check_corpus(parts.passages, "bm25")
    settings = {"k1": k1, "b": b, "stemmer": stemmer}
    terms = terms_by(stemmer)

    def build_index() -> Bm25Index:
        return Bm25Index(_documents(parts, terms), k1, b)

    def write_index(folder: Path) -> Mapping[str, object]:
        build_index().save(folder)
        return {"passages": len(parts.passages)}

    start = time.perf_counter()
    if parts.store is None or len(parts.passages) < MIN_STORED:
        index = build_index()
        costs: dict[str, object] = {"build_s": time.perf_counter() - start, "load_s": None, "disk_bytes": None}
    else:
        library_versions = {"bm25s": version("bm25s"), **versions(stemmer)}
        entry = parts.store.get(
            {"kind": "bm25", "corpus": parts.corpus_digest, **settings, **library_versions}, write_index
        )
        start = time.perf_counter()
        index = Bm25Index.load(entry.folder)
        load_s = time.perf_counter() - start
        costs = {"build_s": entry.build_s, "load_s": load_s, "disk_bytes": entry.disk_bytes}
    return Bm25Retriever(parts.passages, index, terms, {**settings, **costs})


class Bm25Retriever:
    """A `Retriever` over passages and their index.

    The index contains the case-folded words of title and text (jieba's words for Chinese).

    Args:
        passages: the corpus, with unique ids.
        index: the index of the passages, in the same order.
        terms: cuts a query into terms, as it cut the passages.
        index_facts: settings, build and load times and size of the index, for `facts`.
    """

    in_place = True

    def __init__(
        self, passages: tuple[Passage, ...], index: Bm25Index, terms: Terms, index_facts: Mapping[str, object]
    ) -> None:
        self._passages = passages
        self._index = index
        self._terms = terms
        self._index_facts = index_facts

    @cached_property
    def facts(self) -> dict[str, object]:
        """The settings, number of passages, build and load times in seconds, and sizes in bytes."""
        facts = {"retriever": "bm25", "passages": len(self._passages), **self._index_facts}
        return {**facts, "resident_bytes": self._index.resident_bytes}

    def search(self, query: str, k: int) -> Ranking:
        """Return up to ``k`` passages that contain a word of the query, best first, ties in corpus order.

        A query without words finds none.

        Raises:
            SettingError: ``k`` is not positive.
            CaseError: the query is blank ("empty_query").
        """
        check_query(query, k)
        best = self._index.best(self._terms(query), k)
        return Ranking(tuple(_with_score(self._passages[position], score) for position, score in best))


def _with_score(passage: Passage, score: float) -> ScoredPassage:
    return ScoredPassage(passage.id, score, passage.text, passage.title, passage.page, passage.span)


def _documents(parts: RetrieverParts, terms: Terms) -> Iterator[list[str]]:
    """Yield the terms of each passage."""
    for passage in parts.watch(parts.passages, "indexing"):
        yield terms(f"{passage.title} {passage.text}")
