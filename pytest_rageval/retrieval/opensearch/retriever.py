"""The retriever ``opensearch``: search an index of OpenSearch or Elasticsearch."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from pytest_rageval.errors import CaseError, SettingError
from pytest_rageval.llm.backends.http_posts import load
from pytest_rageval.llm.client.retry import RetryPolicy
from pytest_rageval.model.protocols import Retriever
from pytest_rageval.model.ranking import Ranking
from pytest_rageval.retrieval.checks import check_query
from pytest_rageval.retrieval.opensearch.client import EXTRA, KIND, PURPOSE, IndexClient
from pytest_rageval.retrieval.opensearch.hits import ranking_of_hits
from pytest_rageval.retrieval.opensearch.query import QueryTemplate, template_of
from pytest_rageval.retrieval.opensearch.settings import Index, credentials_of, index_of
from pytest_rageval.retrieval.retriever_params import Params
from pytest_rageval.retrieval.retriever_parts import RetrieverParts

if TYPE_CHECKING:
    from pytest_rageval.model.chat import EmbeddingModel

__all__ = ["OpenSearch", "build"]

TIMEOUT_S = 60.0
"""Default of the setting ``timeout``: seconds of one request."""


class _Build:
    """The factory of the retriever; it sends no request."""

    needs_corpus = False

    def __call__(self, parts: RetrieverParts) -> Retriever:
        params, network = Params(parts.params), parts.network
        index = index_of(params)
        may_send = network.cassettes is None or network.cassettes.may_ask(KIND, index.label)
        credentials = credentials_of(params, may_send=may_send)
        template = template_of(params, index, parts.folder)
        default = RetryPolicy()
        retry = RetryPolicy(
            params.whole("attempts", default.attempts), params.number("deadline", default.deadline_s, minimum=0.001)
        )
        timeout = params.number("timeout", TIMEOUT_S, minimum=0.001)
        params.finish()
        if may_send:  # import httpx now, because that takes longer than the first search
            load(PURPOSE, EXTRA)
        client = IndexClient(index, credentials, network, retry, timeout)
        return cast("Retriever", OpenSearch(index, template, client))  # its search is a coroutine function


build = _Build()


@dataclass(frozen=True, slots=True)
class OpenSearch:
    """A `Retriever` over an index; it only reads the index, with one request per search.

    The passages have the server's order, even if scores are equal.

    Attributes:
        index: the index and the names of its fields.
        template: the body of each search.
        client: sends the searches.
        embedder: the embedding model, for a template with the vector of the question.
    """

    index: Index
    template: QueryTemplate
    client: IndexClient
    embedder: EmbeddingModel | None = None

    @property
    def facts(self) -> dict[str, str]:
        """The name of the retriever and of its index."""
        return {"retriever": "opensearch", "index": self.index.name}

    @property
    def lacks_embedder(self) -> bool:
        """Whether the query needs a vector and there is no embedding model."""
        return self.template.needs_vector and self.embedder is None

    def with_embedder(self, embedder: EmbeddingModel | None) -> OpenSearch:
        """Return the same retriever with an embedding model."""
        return replace(self, embedder=embedder)

    async def search(self, query: str, k: int) -> Ranking:
        """Return the first ``k`` hits.

        Raises:
            SettingError: ``k`` is not positive, or the query needs a vector and there is no embedding model.
            CaseError: the query is blank ("empty_query"), its vector is invalid ("bad_vector"), or a hit is invalid
                ("bad_ranking").
            ModelError: the search failed; its kind names the cause.
        """
        check_query(query, k)
        vector = await self._vector(query) if self.template.needs_vector else None
        hits = await self.client.search(self.template.fill(query, k, vector))
        return ranking_of_hits(hits, self.index, k)

    async def _vector(self, query: str) -> list[float]:
        if self.embedder is None:
            raise SettingError(
                "the query of opensearch has {vector}, and no model embeds the question; set rag_embedder_model"
            )
        embeddings = await self.embedder.embed([query])
        vector = [float(number) for number in embeddings.vectors[0]]
        if not vector or not all(map(math.isfinite, vector)):
            raise CaseError(
                "bad_vector", "the embedding model gave the question an empty vector, or one with NaN or infinity"
            )
        return vector
