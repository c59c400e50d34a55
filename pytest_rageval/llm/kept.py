"""Replies of this process, so that nothing identical is asked twice where nothing is recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_rageval.llm.request import Request

__all__ = ["Kept"]


class Kept:
    """Finds and keeps responses as `Cassettes` does, in memory alone."""

    def __init__(self) -> None:
        self._responses: dict[str, Mapping[str, Any]] = {}

    def find(self, request: Request) -> Mapping[str, Any] | None:
        """Return the response to an equal request, or None when there has been none."""
        return self._responses.get(request.key)

    def record(self, request: Request, response: Mapping[str, Any]) -> None:
        """Keep a response."""
        self._responses[request.key] = response
