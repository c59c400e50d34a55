"""Complete pairs with the nearest chunk of another document of the same topic, by BM25."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_rageval.generation.model_drafts.chunks import Chunk
from pytest_rageval.generation.model_drafts.jobs import Job
from pytest_rageval.model.case import Passage

if TYPE_CHECKING:
    from pytest_rageval.model.protocols import Retriever

__all__ = ["Pairing"]

QUERY = 600
"""Characters of a chunk that are searched for."""

FIRST, MOST = 10, 1_000
"""How many chunks are searched at first, and at most, for one of another document."""


class Pairing:
    """Completes the jobs of a plan; the chunks of a topic are indexed on first use.

    Args:
        chunks: all chunks.
    """

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._topics: dict[str, list[Passage]] = {}
        for chunk in chunks:
            self._topics.setdefault(chunk.topic, []).append(chunk.passage)
        self._indexes: dict[str, Retriever] = {}
        self._asked: set[tuple[str, frozenset[str]]] = set()

    def completed(self, jobs: Iterable[Job]) -> list[Job]:
        """Return jobs with all their chunks, without those whose kind and chunks an earlier job has.

        A job that lacks a partner is left out if no other document of its topic has a chunk.
        """
        result = []
        for job in jobs:
            partner = self._other(job.topic, job.sources[0]) if job.finds_partner else None
            if job.finds_partner and partner is None:
                continue
            whole = replace(job, sources=(*job.sources, *([partner] if partner else [])), finds_partner=False)
            key = (whole.kind, frozenset(source.id for source in whole.sources))
            if key not in self._asked:
                self._asked.add(key)
                result.append(whole)
        return result

    def _other(self, topic: str, passage: Passage) -> Passage | None:
        """Return the chunk of another document of a topic that is most like a passage; None if there is none."""
        passages = self._topics[topic]
        if all(_page(each) == _page(passage) for each in passages):
            return None
        found = self._search(topic, passage.text[:QUERY], FIRST, passage)
        return found or self._search(topic, passage.text[:QUERY], min(MOST, len(passages)), passage)

    def _search(self, topic: str, query: str, count: int, passage: Passage) -> Passage | None:
        others = {each.id: each for each in self._topics[topic] if _page(each) != _page(passage)}
        ranking = self._index(topic).search(query, count)
        return next((others[name] for name in ranking.doc_ids if name in others), None)

    def _index(self, topic: str) -> Retriever:
        if topic not in self._indexes:
            from pytest_rageval.retrieval.bm25 import build
            from pytest_rageval.retrieval.build_context import RetrieverParts

            self._indexes[topic] = build(RetrieverParts(tuple(self._topics[topic])))
        return self._indexes[topic]


def _page(passage: Passage) -> str:
    return passage.page or passage.id
