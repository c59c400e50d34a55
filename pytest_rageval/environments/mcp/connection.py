"""The connection of a session to an MCP server: made at the first use, ended with the session."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pytest_rageval.environments.mcp.link import Link
from pytest_rageval.environments.mcp.servers import Target

if TYPE_CHECKING:
    from mcp.types import CallToolResult

__all__ = ["Connection"]


class Connection:
    """Threads and event loops may share it.

    A server that ended stays ended, because it was ours. One at an address may be running again: the next use after a
    loss connects once more. If that fails, or the first connection fails, it stays lost.

    Args:
        target: the server.
        timeout: seconds until the server has to be ready.
    """

    def __init__(self, target: Target, timeout: float) -> None:
        self._target = target
        self._timeout = timeout
        self._lock = threading.Lock()
        self._links: list[Link] = []
        self._closed = False

    def tools(self) -> list[dict[str, Any]]:
        """Return what the server lists, as plain JSON values: name, description, parameters.

        Raises:
            ConnectionError: the server cannot be reached.
        """
        return self._linked().ready()

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> CallToolResult:
        """Call a tool, from any event loop.

        Raises:
            ConnectionError: the server cannot be reached.
            MCPError: the server refuses the call.
        """
        return await self._linked().call(tool, arguments)

    def stop(self) -> None:
        """Begin to end the server, without waiting; calls fail."""
        with self._lock:
            self._closed = True
        for link in self._links:
            link.stop()

    def close(self) -> None:
        """End the server, and wait for it."""
        self.stop()
        for link in self._links:
            link.close()

    def _linked(self) -> Link:
        with self._lock:
            if self._closed:
                raise ConnectionError("the session ends")
            if not self._links or (self._links[-1].lost and self._target.comes_back):
                self._links.append(Link(self._target, self._timeout))
            return self._links[-1]
