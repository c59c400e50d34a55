"""Classify chunks by topic: by listed documents, then by BM25 or by embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_rageval.generation.topics.topic import Topic, TopicTree
from pytest_rageval.model.case import Passage

if TYPE_CHECKING:
    from pytest_rageval.retrieval.encoder import Encoder

__all__ = ["MARGIN", "ChunkTopics", "classify"]

MARGIN = 0.1
"""Smallest lead of the best topic over the second in BM25, as a share of the best score."""

COSINE_MARGIN = 0.02
"""Smallest lead of the best topic over the second in cosine."""


@dataclass(frozen=True, slots=True)
class ChunkTopics:
    """The topics of chunks.

    Attributes:
        topics: id of a chunk -> path of its topic; a chunk without a topic has no entry.
        without_topic: ids of the chunks without a topic, in order.
    """

    topics: dict[str, str]
    without_topic: tuple[str, ...]


def classify(chunks: Sequence[Passage], tree: TopicTree, encoder: Encoder | None = None) -> ChunkTopics:
    """Return the topic of each chunk.

    If a topic lists the chunk's document, the chunk has this topic. Otherwise each topic without children is scored:
    by BM25 of the chunk's words over the topic's name and keywords, or by the cosine between the chunk and the topic's
    name. The chunk gets the topic with the best score if its lead over the second is at least a tenth of its score
    (BM25) or 0.02 (cosine).

    Args:
        chunks: the chunks.
        tree: the topics.
        encoder: an embedding model; None for BM25.
    """
    listed = tree.of_documents
    topics = {chunk.id: listed[page] for chunk in chunks if (page := chunk.page or chunk.id) in listed}
    unlisted = [chunk for chunk in chunks if chunk.id not in topics]
    leaves = list(tree.leaves)
    if unlisted and leaves:
        paths = _by_words(unlisted, leaves) if encoder is None else _by_vectors(unlisted, leaves, encoder)
        topics.update({chunk.id: path for chunk, path in zip(unlisted, paths, strict=True) if path})
    return ChunkTopics(topics, tuple(chunk.id for chunk in chunks if chunk.id not in topics))


def _by_words(chunks: Sequence[Passage], topics: Sequence[Topic]) -> list[str]:
    from pytest_rageval.retrieval.bm25_index import Bm25Index
    from pytest_rageval.retrieval.terms import terms_by

    terms = terms_by("none")
    index = Bm25Index([terms(" ".join([topic.name, *topic.keywords])) for topic in topics], k1=0.9, b=0.4)
    return [
        _best(index.scores(terms(f"{chunk.title} {chunk.text}")), topics, relative=MARGIN, absolute=0.0)
        for chunk in chunks
    ]


def _by_vectors(chunks: Sequence[Passage], topics: Sequence[Topic], encoder: Encoder) -> list[str]:
    import numpy as np

    names = encoder.encode([topic.path.replace("/", " ") for topic in topics])
    rows = encoder.encode([f"{chunk.title} {chunk.text}".strip() for chunk in chunks])
    names, rows = (each / np.maximum(np.linalg.norm(each, axis=1, keepdims=True), 1e-12) for each in (names, rows))
    return [_best(scores, topics, relative=0.0, absolute=COSINE_MARGIN) for scores in rows @ names.T]


def _best(scores: Any, topics: Sequence[Topic], *, relative: float, absolute: float) -> str:
    """Return the path of the topic with the best score; "" if the score is not positive or too close to the second."""
    import numpy as np

    order = np.argsort(-np.asarray(scores), kind="stable")
    best = float(scores[order[0]])
    second = float(scores[order[1]]) if len(order) > 1 else 0.0
    lead = best - second
    is_clear = len(order) == 1 or (lead > 0 and lead >= relative * best and lead >= absolute)
    return topics[order[0]].path if best > 0 and is_clear else ""
