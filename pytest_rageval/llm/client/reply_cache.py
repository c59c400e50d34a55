"""Cache replies in memory, to send identical requests once, also without recordings."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from pytest_rageval.llm.recordings.request import Request

__all__ = ["ReplyCache"]

MAX_REPLIES = 4096
"""Size of the cache; the least recently used replies are removed first."""


class ReplyCache:
    """Finds and stores responses like `Cassettes`, but only in memory."""

    def __init__(self) -> None:
        self._responses: OrderedDict[str, Mapping[str, Any]] = OrderedDict()

    def find(self, request: Request) -> Mapping[str, Any] | None:
        """Return the cached response to an equal request, or None."""
        response = self._responses.get(request.key)
        if response is not None:
            self._responses.move_to_end(request.key)
        return response

    def record(self, request: Request, response: Mapping[str, Any]) -> None:
        """Store a response."""
        self._responses[request.key] = response
        if len(self._responses) > MAX_REPLIES:
            self._responses.popitem(last=False)
