"""Tools of MCP servers (Model Context Protocol); ``mcp`` is imported on first use."""

from __future__ import annotations

__all__ = ["is_server"]


def is_server(value: object) -> bool:
    """Return whether a value is a server object of the library ``mcp``, without importing the library."""
    classes = type(value).__mro__
    return any(cls.__module__.startswith("mcp.server.") and cls.__name__ in ("MCPServer", "Server") for cls in classes)
