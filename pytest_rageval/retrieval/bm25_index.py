"""The BM25 index: scores computed by `postings`; bm25s searches, saves and loads them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from tokenize import TokenError
from typing import TYPE_CHECKING, Any

from pytest_rageval.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Bm25Index"]


class Bm25Index:
    """An index of BM25 scores of tokenised documents, in Lucene's variant, whose idf is never negative.

    Args:
        documents: the terms of each document; a document may be empty.
        k1: saturation of repeated terms, 0 or more.
        b: penalty for long documents, 0..1.
    """

    def __init__(self, documents: Iterable[Iterable[str]], k1: float, b: float) -> None:
        from pytest_rageval.retrieval.postings import postings_of

        postings = postings_of(documents, k1, b)
        self._index = _bm25s().BM25(k1=k1, b=b)
        self._index.scores = {
            "data": postings.data,
            "indices": postings.indices,
            "indptr": postings.indptr,
            "num_docs": postings.documents,
        }
        self._folder: Path | None = None
        self._index.vocab_dict = postings.vocabulary
        self._index.nonoccurrence_array = None

    @classmethod
    def load(cls, folder: Path) -> Bm25Index:
        """Return a saved index; its scores are files mapped into memory, which all processes share.

        Raises:
            DataError: a file is damaged.
        """
        index = cls.__new__(cls)
        index._folder = folder
        try:
            index._index = _bm25s().BM25.load(folder, mmap=True, allow_pickle=False)
        except (
            OSError,
            EOFError,
            ValueError,
            LookupError,
            TypeError,
            TokenError,
        ):  # numpy tokenizes file headers
            raise _damage_error(folder) from None
        return index

    def save(self, folder: Path) -> None:
        """Write the index into a folder as arrays and JSON, without pickle."""
        self._index.save(folder, allow_pickle=False)

    @property
    def resident_bytes(self) -> int:
        """The maximum memory use of the index; mapped scores count in full, because all of them may be loaded."""
        words: dict[str, int] = self._index.vocab_dict
        arrays = sum(self._index.scores[name].nbytes for name in ("data", "indices", "indptr"))
        return int(arrays) + sys.getsizeof(words) + sum(map(sys.getsizeof, words))

    def scores(self, terms: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return one score per document, in order; it is exactly 0 for a document without any of the terms.

        Raises:
            DataError: the loaded files are damaged.
        """
        numbers = self._index.get_tokens_ids(terms)
        if not numbers:
            import numpy as np

            return np.zeros(self._index.scores["num_docs"], dtype=np.float32)
        try:
            scores: npt.NDArray[np.float32] = self._index.get_scores_from_ids(numbers)
        except (ArithmeticError, LookupError, TypeError, ValueError):
            if self._folder is None:
                raise
            raise _damage_error(self._folder) from None
        return scores

    def best(self, terms: Sequence[str], k: int) -> list[tuple[int, float]]:
        """Return the ``k`` best documents with a score above 0, best first, ties in document order."""
        import numpy as np

        scores = self.scores(terms)
        minimum = np.partition(scores, -k)[-k] if k < len(scores) else 0.0
        candidates = (scores >= minimum).nonzero()[0] if minimum > 0 else scores.nonzero()[0]
        best = candidates[(-scores[candidates]).argsort(kind="stable")][:k]
        return list(zip(best.tolist(), scores[best].tolist(), strict=True))


def _damage_error(folder: Path) -> DataError:
    return DataError(str(folder), "holds no index of bm25s; remove it to rebuild the index")


def _bm25s() -> Any:
    import logging

    import bm25s

    logging.getLogger("bm25s").setLevel(logging.WARNING)  # it logs every index at debug level
    return bm25s
