"""Distinguish outages of a tool's service from errors of the tool."""

from __future__ import annotations

from pytest_rageval.errors import CaseError
from pytest_rageval.trace.steps import OUTAGES

__all__ = ["ToolUnavailableError", "is_outage"]

OUTAGE_CLASSES = ("ConnectionError", "TimeoutError", "ConnectionClosed", "ClosedResourceError", "BrokenResourceError")
"""Names of exception classes that mean an outage in any library: Python, database clients, MCP."""

OUTAGE_CLASSES_BY_LIBRARY = (("httpx", "TransportError"), ("httpx2", "TransportError"), ("requests", "Timeout"))
"""Library and class; in other libraries these class names mean other errors."""


class ToolUnavailableError(CaseError):
    """Raised when a tool's service cannot be reached: the case is an error, never a low score.

    An agent does not catch it; an agent that returns a trace may end the trace with "tool_unavailable" instead.
    """

    def __init__(self, message: str) -> None:
        super().__init__(OUTAGES[0], message)


def is_outage(error: BaseException) -> bool:
    """Return whether an error means that a service cannot be reached or replied with a status of 500 or more.

    Classes are compared by name, so no library is imported.
    """
    for cls in type(error).__mro__:
        if (
            cls.__name__ in OUTAGE_CLASSES
            or (cls.__module__.partition(".")[0], cls.__name__) in OUTAGE_CLASSES_BY_LIBRARY
        ):
            return True
    if _status(error) >= 500:
        return True
    grouped = getattr(error, "exceptions", ())  # an exception group of tasks
    inside = [getattr(error, "reason", None), *(grouped if isinstance(grouped, list | tuple) else ())]
    return any(is_outage(each) for each in inside if isinstance(each, BaseException) and each is not error)


def _status(error: BaseException) -> int:
    """Return the HTTP status in an error of httpx, requests, aiohttp, urllib or a client over them; else 0."""
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
