"""Replies of this process, so that nothing identical is asked twice where nothing is recorded."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from pytest_rageval.llm.recordings.request import Request

__all__ = ["Kept"]

MOST = 4096
"""Replies that are kept: those that were wanted last."""


class Kept:
    """Finds and keeps responses as `Cassettes` does, in memory alone."""

    def __init__(self) -> None:
        self._responses: OrderedDict[str, Mapping[str, Any]] = OrderedDict()

    def find(self, request: Request) -> Mapping[str, Any] | None:
        """Return the response to an equal request, or None when there has been none lately."""
        response = self._responses.get(request.key)
        if response is not None:
            self._responses.move_to_end(request.key)
        return response

    def record(self, request: Request, response: Mapping[str, Any]) -> None:
        """Keep a response."""
        self._responses[request.key] = response
        if len(self._responses) > MOST:
            self._responses.popitem(last=False)
