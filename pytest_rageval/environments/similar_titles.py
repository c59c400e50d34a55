"""Find pages with similar titles by BM25."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from pytest_rageval.retrieval.bm25 import MIN_STORED
from pytest_rageval.retrieval.bm25_index import Bm25Index
from pytest_rageval.retrieval.index_store import IndexStore
from pytest_rageval.retrieval.terms import terms_by, versions

__all__ = ["IndexedPage", "SimilarTitles"]

K1, B = 0.9, 0.4
"""The same parameters as in the retriever ``bm25``."""

SUMMARY = 1
"""Version of the summaries of pages; bump it to invalidate stored indexes."""

FIELDS = ("title", "summary")


class IndexedPage(Protocol):
    """A page with a title, a text and a summary."""

    @property
    def title(self) -> str: ...

    @property
    def text(self) -> str: ...

    @property
    def summary(self) -> str: ...


class SimilarTitles:
    """Ranks pages by the sum of two BM25 scores: title and first paragraph.

    There are two indexes because in a single index a rare word in a long paragraph would outrank the page with that
    title.

    Args:
        pages: all pages.
        store: where the indexes of many pages are stored; None keeps them in memory.
    """

    def __init__(self, pages: Sequence[IndexedPage], store: IndexStore | None = None) -> None:
        self._pages = sorted(pages, key=lambda page: page.title)  # equal scores keep the order of the indexes
        self._terms = terms_by("none")
        if store is None or len(pages) < MIN_STORED:
            self._indexes = [self._index(field) for field in FIELDS]
            return
        key = {"kind": "titles", "pages": self._digest(), "summary": SUMMARY, "k1": K1, "b": B, **versions("none")}
        entry = store.get(key, self._save)
        self._indexes = [Bm25Index.load(entry.folder / field) for field in FIELDS]

    def near(self, title: str, limit: int) -> list[str]:
        """Return the titles of the ``limit`` most similar pages, best first, then by title; [] if no word is known."""
        import numpy as np

        terms = self._terms(title)
        if not terms or not self._pages:
            return []
        scores = sum((index.scores(terms) for index in self._indexes), np.zeros(len(self._pages), dtype=np.float32))
        least = np.partition(scores, -limit)[-limit] if limit < len(scores) else 0.0
        near = (scores >= least).nonzero()[0] if least > 0 else scores.nonzero()[0]
        best = near[(-scores[near]).argsort(kind="stable")][:limit]
        return [self._pages[at].title for at in best.tolist()]

    def _index(self, field: str) -> Bm25Index:
        return Bm25Index((self._terms(text) for text in self._texts(field)), K1, B)

    def _texts(self, field: str) -> Iterator[str]:
        return (page.title if field == "title" else page.summary for page in self._pages)

    def _save(self, folder: Path) -> Mapping[str, object]:
        for field in FIELDS:
            self._index(field).save(folder / field)
        return {"pages": len(self._pages)}

    def _digest(self) -> str:
        digest = hashlib.sha256()
        for page in self._pages:
            digest.update(f"{page.title}\0{page.text}\0".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()
