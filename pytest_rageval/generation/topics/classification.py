"""Give each chunk its topic: by the documents that a topic lists, else by BM25, or by vectors of names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_rageval.generation.topics.topic import Topic, TopicTree
from pytest_rageval.model.case import Passage

if TYPE_CHECKING:
    from pytest_rageval.retrieval.encoder import Encoder

__all__ = ["MARGIN", "Classified", "classified"]

MARGIN = 0.1
"""The best topic is this share better than the second, else the chunk has none."""

COSINE_MARGIN = 0.02


@dataclass(frozen=True, slots=True)
class Classified:
    """Chunks with their topics.

    Attributes:
        topics: id of a chunk -> the path of its topic; chunks without one are missing.
        without: ids of the chunks without a topic, in order.
    """

    topics: dict[str, str]
    without: tuple[str, ...]


def classified(chunks: Sequence[Passage], tree: TopicTree, encoder: Encoder | None = None) -> Classified:
    """Return the topic of each chunk.

    A chunk of a document that a topic lists has this topic. Of others, each topic without children is scored: by BM25
    of the chunk's words in the topic's name and keywords, or by the cosine of the chunk and the topic's name. The best
    one is the chunk's topic if it is far enough ahead of the second (by a tenth of its score; by 0.02 of cosine).

    Args:
        chunks: the chunks.
        tree: the topics.
        encoder: a model of vectors; None for BM25.
    """
    listed = tree.of_documents
    topics = {chunk.id: listed[page] for chunk in chunks if (page := chunk.page or chunk.id) in listed}
    open_chunks = [chunk for chunk in chunks if chunk.id not in topics]
    leaves = list(tree.leaves)
    if open_chunks and leaves:
        found = _by_words(open_chunks, leaves) if encoder is None else _by_vectors(open_chunks, leaves, encoder)
        topics.update({chunk.id: path for chunk, path in zip(open_chunks, found, strict=True) if path})
    return Classified(topics, tuple(chunk.id for chunk in chunks if chunk.id not in topics))


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
    """Return the path of the topic with the best score; "" if it is not positive, or too near the second."""
    import numpy as np

    order = np.argsort(-np.asarray(scores), kind="stable")
    best = float(scores[order[0]])
    second = float(scores[order[1]]) if len(order) > 1 else 0.0
    ahead = best - second
    is_clear = len(order) == 1 or (ahead > 0 and ahead >= relative * best and ahead >= absolute)
    return topics[order[0]].path if best > 0 and is_clear else ""
