"""Tools of servers that speak the Model Context Protocol; the package mcp is imported when a server is used."""

from __future__ import annotations

__all__ = ["is_server"]


def is_server(value: object) -> bool:
    """Return whether a value is a server object of the package mcp; import nothing."""
    classes = type(value).__mro__
    return any(cls.__module__.startswith("mcp.server.") and cls.__name__ in ("MCPServer", "Server") for cls in classes)
