"""BM25 over passages held in memory, computed by bm25s."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pytest_rageval.errors import SettingError, found
from pytest_rageval.model.case import Passage
from pytest_rageval.model.protocols import Retriever
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.retrieval.asked import checked
from pytest_rageval.retrieval.params import Params
from pytest_rageval.retrieval.parts import RetrieverParts
from pytest_rageval.text.words import words

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Bm25Index", "Bm25Retriever", "build"]


def build(parts: RetrieverParts) -> Retriever:
    """Return BM25 over the passages; its settings are ``k1`` and ``b``."""
    params = Params(parts.params)
    k1, b = params.number("k1", 0.9), params.number("b", 0.4, most=1.0)
    params.finish()
    return Bm25Retriever(parts.passages, k1, b)


class Bm25Index:
    """BM25 scores of tokenised documents (Lucene's variant: its idf is never negative).

    Args:
        documents: the terms of each document; documents may be empty.
        k1: how fast repeated terms saturate, >= 0.
        b: how much long documents are marked down, 0..1.
    """

    def __init__(self, documents: Sequence[Sequence[str]], k1: float, b: float) -> None:
        import bm25s

        logging.getLogger("bm25s").setLevel(logging.WARNING)  # it reports every index it builds at debug level
        self._size = len(documents)
        self._index = bm25s.BM25(k1=k1, b=b)
        self._blank = not any(documents)
        if not self._blank:
            self._index.index(documents, create_empty_token=False, show_progress=False)

    def scores(self, terms: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return one score a document, in order; 0 exactly where a document holds none of the terms."""
        import numpy as np

        known = [] if self._blank else self._index.get_tokens_ids(list(terms))
        if not known:
            return np.zeros(self._size, dtype=np.float32)
        scores: npt.NDArray[np.float32] = self._index.get_scores_from_ids(known)
        return scores


class Bm25Retriever:
    """A `Retriever` over a corpus in memory.

    A passage is indexed as its title and text, in case-folded words (jieba's tokens for Chinese).

    Args:
        passages: the corpus, with unique ids.
        k1: how fast repeated terms saturate; 0.9 is the value of Anserini's and BEIR's baselines.
        b: how much long passages are marked down; 0.4 likewise.

    Raises:
        SettingError: the corpus is empty, or two passages share an id.
    """

    in_place = True

    def __init__(self, passages: Iterable[Passage], k1: float = 0.9, b: float = 0.4) -> None:
        self._passages = tuple(passages)
        if not self._passages:
            raise SettingError("the corpus of the bm25 retriever is empty; give it at least one passage")
        seen: set[str] = set()
        for passage in self._passages:
            if passage.id in seen:
                raise SettingError(f"the corpus of the bm25 retriever has two passages with the id {found(passage.id)}")
            seen.add(passage.id)
        once: dict[str, str] = {}  # a word is held once, however often it occurs: most of the memory of an index
        terms = [[once.setdefault(word, word) for word in _terms(f"{p.title} {p.text}")] for p in self._passages]
        self._index = Bm25Index(terms, k1, b)

    def search(self, query: str, k: int) -> Ranking:
        """Return the ``k`` best passages that hold a word of the query, best first, ties in corpus order.

        Fewer come back when fewer match; a query that holds no word finds nothing.

        Raises:
            SettingError: ``k`` is not positive.
            CaseError: the query is blank ("empty_query").
        """
        checked(query, k)
        scores = self._index.scores(_terms(query))
        matched = scores.nonzero()[0]
        best = matched[(-scores[matched]).argsort(kind="stable")][:k]
        return Ranking(tuple(self._scored(int(i), float(scores[i])) for i in best))

    def _scored(self, position: int, score: float) -> ScoredPassage:
        passage = self._passages[position]
        return ScoredPassage(passage.id, score, passage.text, passage.title, passage.page)


def _terms(text: str) -> list[str]:
    return [word.casefold() for word in words(text)]
