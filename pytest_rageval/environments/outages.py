"""Distinguish an outage of a tool's service from an error of the tool."""

from __future__ import annotations

from pytest_rageval.errors import CaseError
from pytest_rageval.trace.steps import OUTAGES

__all__ = ["ToolUnavailableError", "is_outage"]

ANYWHERE = ("ConnectionError", "TimeoutError", "ConnectionClosed", "ClosedResourceError", "BrokenResourceError")
"""Classes of an outage in any library: Python's, those of clients of databases, a closed session of MCP."""

OF_LIBRARIES = (("httpx", "TransportError"), ("httpx2", "TransportError"), ("requests", "Timeout"))
"""Library and class. Other libraries use these names for other errors."""


class ToolUnavailableError(CaseError):
    """A tool's service cannot be reached: the case is an error, never a low score.

    An agent lets it pass. One that has a trace to return ends the trace with the reason "tool_unavailable" instead.
    """

    def __init__(self, message: str) -> None:
        super().__init__(OUTAGES[0], message)


def is_outage(error: BaseException) -> bool:
    """Return whether an error says that a service cannot be reached, or that it answered with a status of 500 or more.

    Classes are compared by name, so no library is imported.
    """
    for cls in type(error).__mro__:
        if cls.__name__ in ANYWHERE or (cls.__module__.partition(".")[0], cls.__name__) in OF_LIBRARIES:
            return True
    if _status(error) >= 500:
        return True
    grouped = getattr(error, "exceptions", ())  # of tasks
    inside = [getattr(error, "reason", None), *(grouped if isinstance(grouped, list | tuple) else ())]
    return any(is_outage(each) for each in inside if isinstance(each, BaseException) and each is not error)


def _status(error: BaseException) -> int:
    """Return the HTTP status of an error of httpx, requests, aiohttp, urllib or a client over one of them; else 0."""
    holders = (
        (getattr(error, "response", None), ("status_code", "status")),
        (error, ("status_code",)),
        (error, ("status",) if type(error).__module__.startswith("aiohttp") else ()),
        (error, ("code",) if type(error).__module__.startswith("urllib") else ()),
    )
    for holder, names in holders:
        for name in names:
            status = getattr(holder, name, None)
            if isinstance(status, int) and 100 <= status <= 599:
                return status
    return 0
