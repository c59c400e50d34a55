"""Replay a search from the recordings, or send, retry and record it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from pytest_rageval.errors import MissingDependencyError, ModelError, SystemContractError
from pytest_rageval.llm.backends.http_posts import HttpPosts
from pytest_rageval.llm.client.own_calls import own_call
from pytest_rageval.llm.client.rate_limiter import Limiter
from pytest_rageval.llm.client.retry import RetryPolicy, Tries
from pytest_rageval.llm.client.usage_meter import Meter, current
from pytest_rageval.llm.recordings.request import Request
from pytest_rageval.llm.secrets import masked
from pytest_rageval.retrieval.opensearch.faults import search_error
from pytest_rageval.retrieval.opensearch.hits import Hit, has_text, hits_of
from pytest_rageval.retrieval.opensearch.settings import Credentials, Index
from pytest_rageval.retrieval.retriever_parts import Network

__all__ = ["EXTRA", "KIND", "PURPOSE", "IndexClient"]

KIND = "search"
"""The kind of these requests in recordings."""

SEVERAL = 3
"""Fewer searches without a hit, or without a text in any hit, are no reason for a warning."""

PURPOSE, EXTRA = "the retriever 'opensearch'", "search"
"""For the message about a missing httpx."""


class IndexClient:
    """The client of one index.

    Server, index, body and the case's repeat identify a search. A failed search is not recorded.

    Attributes:
        refused: the first refusal (``auth``, ``not_found``) before any reply; no later search is sent.
    """

    def __init__(
        self, index: Index, credentials: Credentials, network: Network, retry: RetryPolicy, timeout: float
    ) -> None:
        self.refused: ModelError | None = None
        self._succeeded = False
        self._searches = 0
        self._found = 0
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
            ModelError: the search failed, or it is not recorded and may not be sent.
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
        """A sentence if no search found anything, or no hit had a text: no document has such a field."""
        if not self._found and self._searches >= SEVERAL:
            problem = f"none of {self._searches:,} searches of {self._index.label} found anything"
            return f"{problem}; check text_field, filter and query in rag_retriever_params"
        if not self._has_text and self._found >= SEVERAL:
            problem = (
                f"no hit of {self._found:,} searches of {self._index.label} has a text in {self._index.text_field}"
            )
            return f"{problem}, so the contexts are empty; check text_field in rag_retriever_params"
        return None

    def _count(self, hits: list[Hit]) -> list[Hit]:
        """Count a search, and return its hits."""
        self._searches += 1
        self._found += bool(hits)
        self._has_text = self._has_text or any(has_text(hit, self._index) for hit in hits)
        return hits

    async def close(self) -> None:
        """Close the connections."""
        await self._posts.aclose()

    def _find(self, request: Request, meter: Meter) -> dict[str, Any] | None:
        """Return the recorded response; a case whose search is refused has no answer, even if its system goes on."""
        try:
            response = None if self._network.cassettes is None else self._network.cassettes.find(request)
        except ModelError as error:
            meter.refuse(error)
            raise
        if response is not None:
            meter.use(request.key, replayed=True)
        return response

    async def _record(self, request: Request, body: Mapping[str, Any], meter: Meter) -> dict[str, Any]:
        response: dict[str, Any] = masked({"hits": await self._send(body)})
        earlier = self._find(request, meter)  # of another case, which made the same search meanwhile
        if earlier is not None:
            return earlier
        if self._network.cassettes is not None:
            self._network.cassettes.record(request, response)
            meter.use(request.key)
        return response

    async def _send(self, body: Mapping[str, Any]) -> list[Hit]:
        return await Tries(self._retry, self._limiter).run(partial(self._post, json.dumps(body).encode()))

    async def _post(self, content: bytes) -> list[Hit]:
        """Send one request, and return its hits."""
        try:
            with own_call():
                reply, _ = await self._posts.post(self._index.address, content, self._headers, timeout=self._timeout)
            hits = hits_of(reply, self._index.label)
        except MissingDependencyError as error:
            raise SystemContractError(str(error), always=True) from None
        except Exception as error:
            known = error if isinstance(error, ModelError) else None
            fault = known or search_error(error, self._index.label, self._secrets)
            if fault.kind in ("auth", "not_found") and not self._succeeded:
                self.refused = self.refused or fault
                self._limiter.close(self.refused)  # before the next search takes the slot of this request
            raise fault from None
        self._succeeded = True
        return hits
