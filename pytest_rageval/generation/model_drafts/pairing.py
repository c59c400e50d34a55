"""Complete pairs of chunks with the nearest one of another document of the topic, by BM25."""

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

QUERY_LENGTH = 600
"""How many characters of a chunk are the query."""

FIRST_RESULTS, MAX_RESULTS = 10, 1_000
"""How many search results are checked for another document, at first and at most."""


class Pairing:
    """Completes the jobs of a plan with partners; indexes the chunks of a topic on first use.

    Args:
        chunks: all chunks.
    """

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._topics: dict[str, list[Passage]] = {}
        for chunk in chunks:
            self._topics.setdefault(chunk.topic, []).append(chunk.passage)
        self._indexes: dict[str, Retriever] = {}
        self._seen: set[tuple[str, frozenset[str]]] = set()

    def with_partners(self, jobs: Iterable[Job]) -> list[Job]:
        """Return jobs with all their chunks, without repeats of an earlier kind and chunks.

        A job that needs a partner is left out if its topic has no chunk of another document.
        """
        result = []
        for job in jobs:
            partner = self._partner(job.topic, job.sources[0]) if job.finds_partner else None
            if job.finds_partner and partner is None:
                continue
            complete = replace(job, sources=(*job.sources, *([partner] if partner else [])), finds_partner=False)
            key = (complete.kind, frozenset(source.id for source in complete.sources))
            if key not in self._seen:
                self._seen.add(key)
                result.append(complete)
        return result

    def _partner(self, topic: str, passage: Passage) -> Passage | None:
        """Return the most similar chunk of another document of a topic; None if there is none."""
        passages = self._topics[topic]
        if all(_page(each) == _page(passage) for each in passages):
            return None
        partner = self._search(topic, passage.text[:QUERY_LENGTH], FIRST_RESULTS, passage)
        return partner or self._search(topic, passage.text[:QUERY_LENGTH], min(MAX_RESULTS, len(passages)), passage)

    def _search(self, topic: str, query: str, count: int, passage: Passage) -> Passage | None:
        others = {each.id: each for each in self._topics[topic] if _page(each) != _page(passage)}
        ranking = self._index(topic).search(query, count)
        return next((others[name] for name in ranking.doc_ids if name in others), None)

    def _index(self, topic: str) -> Retriever:
        if topic not in self._indexes:
            from pytest_rageval.retrieval.bm25 import build
            from pytest_rageval.retrieval.retriever_parts import RetrieverParts

            self._indexes[topic] = build(RetrieverParts(tuple(self._topics[topic])))
        return self._indexes[topic]


def _page(passage: Passage) -> str:
    return passage.page or passage.id
