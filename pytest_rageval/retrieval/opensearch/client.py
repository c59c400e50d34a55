"""Replay a search from recordings, or send it, retry it and record it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from pytest_rageval.errors import MissingDependencyError, ModelError, SystemContractError
from pytest_rageval.llm.backends.http_posts import HttpPosts
from pytest_rageval.llm.client.rate_limiter import Limiter
from pytest_rageval.llm.client.retry import RetryPolicy, Tries
from pytest_rageval.llm.client.session_calls import session_call
from pytest_rageval.llm.client.usage_meter import Meter, current
from pytest_rageval.llm.recordings.request import Request
from pytest_rageval.llm.secrets import mask_json
from pytest_rageval.retrieval.opensearch.faults import search_error
from pytest_rageval.retrieval.opensearch.hits import Hit, has_text, hits_of
from pytest_rageval.retrieval.opensearch.settings import Credentials, Index
from pytest_rageval.retrieval.retriever_parts import Network

__all__ = ["EXTRA", "KIND", "PURPOSE", "IndexClient"]

KIND = "search"
"""The kind of search requests in recordings."""

MIN_SEARCHES = 3
"""Number of searches after which `IndexClient.warning` may warn."""

PURPOSE, EXTRA = "the retriever 'opensearch'", "search"
"""Purpose and extra in the message about a missing httpx."""


class IndexClient:
    """The client of one index.

    In recordings, server, index, body and the repeat of the case identify a search. A failed search is not recorded.

    Attributes:
        refused: the error of a search that the server refused (``auth``, ``not_found``) before any success; no later
            search is sent.
    """

    def __init__(
        self, index: Index, credentials: Credentials, network: Network, retry: RetryPolicy, timeout: float
    ) -> None:
        self.refused: ModelError | None = None
        self._succeeded = False
        self._n_searches = 0
        self._n_with_hits = 0
        self._has_text = False
        self._index = index
        self._headers = {
            "Content-Type": "application/json", "Accept-Encoding": "gzip", **credentials.headers
        }  # fmt: skip
        self._secrets = credentials.secrets
        self._network = network
        self._retry = retry
        self._timeout = timeout
        self._limiter = Limiter(network.max_requests)
        self._posts = HttpPosts(PURPOSE, EXTRA)
        network.register(self)

    async def search(self, body: Mapping[str, Any]) -> list[Hit]:
        """Return the hits of a search, in the server's order.

        Raises:
            ModelError: the search failed, or it is not recorded and must not be sent.
            SystemContractError: httpx is not installed.
        """
        if self._network.cassettes is None:
            return self._count(await self._network.home(partial(self._send, body)))
        scope = current()
        request = Request(KIND, self._index.label, {}, body, scope.repeat)
        response = self._find(request, scope.meter)
        if response is None:
            response = await self._network.home(partial(self._record, request, body, scope.meter))
        hits = response.get("hits")
        if not isinstance(hits, list):
            problem = f"the recording {request.key} of {request.model} has no hits; delete it and record it again"
            raise ModelError("malformed_response", problem, attempts=0)
        return self._count(hits)

    @property
    def warning(self) -> str | None:
        """A sentence if no search had hits, or no hit had a text: a setting is probably wrong; else None."""
        if not self._n_with_hits and self._n_searches >= MIN_SEARCHES:
            problem = f"none of {self._n_searches:,} searches of {self._index.label} found anything"
            return f"{problem}; check text_field, filter and query in rag_retriever_params"
        if not self._has_text and self._n_with_hits >= MIN_SEARCHES:
            label, field = self._index.label, self._index.text_field
            problem = f"no hit of {self._n_with_hits:,} searches of {label} has a text in {field}"
            return f"{problem}, so the contexts are empty; check text_field in rag_retriever_params"
        return None

    def _count(self, hits: list[Hit]) -> list[Hit]:
        """Count a search and return its hits."""
        self._n_searches += 1
        self._n_with_hits += bool(hits)
        self._has_text = self._has_text or any(has_text(hit, self._index) for hit in hits)
        return hits

    async def close(self) -> None:
        """Close the connections."""
        await self._posts.aclose()

    def _find(self, request: Request, meter: Meter) -> dict[str, Any] | None:
        """Return the recorded response; None if there is none.

        If recordings refuse the search, the case has no answer, even if its system catches the error.
        """
        try:
            response = None if self._network.cassettes is None else self._network.cassettes.find(request)
        except ModelError as error:
            meter.refuse(error)
            raise
        if response is not None:
            meter.use(request.key, replayed=True)
        return response

    async def _record(self, request: Request, body: Mapping[str, Any], meter: Meter) -> dict[str, Any]:
        """Send a search and record its response."""
        response: dict[str, Any] = mask_json({"hits": await self._send(body)})
        earlier = self._find(request, meter)  # recorded meanwhile by another case with the same search
        if earlier is not None:
            return earlier
        if self._network.cassettes is not None:
            self._network.cassettes.record(request, response)
            meter.use(request.key)
        return response

    async def _send(self, body: Mapping[str, Any]) -> list[Hit]:
        return await Tries(self._retry, self._limiter).run(partial(self._post, json.dumps(body).encode()))

    async def _post(self, content: bytes) -> list[Hit]:
        """Send one request and return its hits."""
        try:
            with session_call():
                reply, _ = await self._posts.post(self._index.address, content, self._headers, timeout=self._timeout)
            hits = hits_of(reply, self._index.label)
        except MissingDependencyError as error:
            raise SystemContractError(str(error), always=True) from None
        except Exception as error:
            model_error = error if isinstance(error, ModelError) else None
            fault = model_error or search_error(error, self._index.label, self._secrets)
            if fault.kind in ("auth", "not_found") and not self._succeeded:
                self.refused = self.refused or fault
                self._limiter.close(self.refused)  # before the next search takes the slot of this request
            raise fault from None
        self._succeeded = True
        return hits
