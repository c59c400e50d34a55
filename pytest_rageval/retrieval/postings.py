"""Build an inverted index of BM25 scores with little memory."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Postings", "postings_of"]

BLOCK = 1 << 20
"""Minimum number of term occurrences that are sorted in one step."""

Scores = npt.NDArray[np.float32]
Numbers = npt.NDArray[Any]


class Postings(NamedTuple):
    """The BM25 scores of a corpus by term, in the layout of bm25s: term t is at ``indptr[t]:indptr[t + 1]``.

    A posting is a pair of a term and a document that contains it.

    Attributes:
        vocabulary: term -> its number t.
        data: float32, the score of each posting, above 0.
        indices: int32, the document number of each posting, rising within a term.
        indptr: int64, the first posting of each term, then the number of postings.
        documents: the number of documents.
    """

    vocabulary: dict[str, int]
    data: Scores
    indices: npt.NDArray[np.int32]
    indptr: npt.NDArray[np.int64]
    documents: int


class _Block(NamedTuple):
    """The postings of some successive documents, sorted by term and document."""

    terms: Numbers  # unique term numbers, rising
    sizes: Numbers  # number of postings of each term
    documents: Numbers  # document number of each posting
    frequencies: Numbers  # occurrences of the term in the document, for each posting


def postings_of(documents: Iterable[Iterable[str]], k1: float, b: float) -> Postings:
    """Return the postings of documents; read each document once, one at a time.

    A posting's score is ``idf * tf / (k1 * (1 - b + b * length / mean length) + tf)`` with Lucene's
    ``idf = ln(1 + (n - df + 0.5) / (df + 0.5))``. The scores equal those of bm25s, rounded once from float64 to
    float32. The build needs 14 bytes per posting.

    Args:
        documents: the terms of each document.
        k1: saturation of repeated terms.
        b: penalty for long documents.
    """
    vocabulary: dict[str, int] = {}
    lengths = array("i")
    blocks: list[_Block] = []
    block_terms, first = array("i"), 0  # term numbers of the current block, number of its first document
    for terms in documents:
        before = len(block_terms)
        block_terms.extend(vocabulary.setdefault(term, len(vocabulary)) for term in terms)
        lengths.append(len(block_terms) - before)
        if len(block_terms) >= BLOCK:
            blocks.append(_block(block_terms, lengths, first))
            block_terms, first = array("i"), len(lengths)
    blocks.append(_block(block_terms, lengths, first))
    norms = _norms(np.frombuffer(lengths, dtype=np.int32), k1, b)
    return _merge(blocks, vocabulary, norms)


def _block(terms: array[int], lengths: array[int], first: int) -> _Block:
    """Return the postings of the documents from number ``first``.

    Args:
        terms: the term numbers of these documents, one after the other.
        lengths: the number of terms of each document, also of the earlier ones.
        first: the number of the first of these documents.
    """
    documents = np.repeat(np.arange(first, len(lengths)), np.frombuffer(lengths, dtype=np.int32)[first:])
    pairs = np.left_shift(np.frombuffer(terms, dtype=np.int32), 32, dtype=np.int64) | documents
    pairs, frequencies = np.unique(pairs, return_counts=True)
    unique_terms, sizes = np.unique(pairs >> 32, return_counts=True)
    return _Block(
        unique_terms, sizes, pairs.astype(np.int32), frequencies.astype(np.min_scalar_type(frequencies.max(initial=0)))
    )


def _norms(lengths: Numbers, k1: float, b: float) -> npt.NDArray[np.float64]:
    """Return ``k1 * (1 - b + b * length / mean length)`` for each document."""
    mean = lengths.mean() if lengths.any() else 1.0
    norms: npt.NDArray[np.float64] = k1 * ((1 - b) + b * lengths / mean)
    return norms


def _merge(blocks: list[_Block], vocabulary: dict[str, int], norms: npt.NDArray[np.float64]) -> Postings:
    """Merge the blocks into one index; empty the list of blocks to free memory early."""
    document_frequency = np.zeros(len(vocabulary), dtype=np.int64)
    for block in blocks:
        document_frequency[block.terms] += block.sizes
    n = len(norms)
    idf = np.array([math.log(1 + (n - df + 0.5) / (df + 0.5)) for df in document_frequency.tolist()], dtype=np.float32)
    indptr = np.concatenate([np.zeros(1, dtype=np.int64), document_frequency.cumsum()])
    data, indices = np.empty(indptr[-1], dtype=np.float32), np.empty(indptr[-1], dtype=np.int32)
    free = indptr[:-1].copy()  # the next free position of each term
    for block in _drain(blocks):
        offsets = np.repeat(free[block.terms] - (block.sizes.cumsum() - block.sizes), block.sizes)
        positions = offsets + np.arange(len(offsets))
        scores = block.frequencies / (norms[block.documents] + block.frequencies)
        data[positions] = np.repeat(idf[block.terms], block.sizes) * scores
        indices[positions] = block.documents
        free[block.terms] += block.sizes
    return Postings(vocabulary, data, indices, indptr, n)


def _drain(blocks: list[_Block]) -> Iterable[_Block]:
    """Yield the blocks in order and remove them from the list."""
    blocks.reverse()
    while blocks:
        yield blocks.pop()
