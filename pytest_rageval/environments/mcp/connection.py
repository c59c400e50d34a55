"""Connect a session to an MCP server on first use, and disconnect at its end."""

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
    """A connection that threads and event loops may share.

    A server that we started is not restarted after it ends. A server at an address may be back: after a loss, the next
    use connects again. If that fails, or if the first connection fails, the connection stays lost.

    Args:
        target: the server.
        timeout: seconds in which the server must be ready.
    """

    def __init__(self, target: Target, timeout: float) -> None:
        self._target = target
        self._timeout = timeout
        self._lock = threading.Lock()
        self._links: list[Link] = []
        self._closed = False

    def tools(self) -> list[dict[str, Any]]:
        """Return the tools that the server lists, as plain JSON values: name, description, parameters.

        Raises:
            ConnectionError: the server cannot be reached.
        """
        return self._link().ready()

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> CallToolResult:
        """Call a tool, from any event loop.

        Raises:
            ConnectionError: the server cannot be reached.
            MCPError: the server rejects the call.
        """
        return await self._link().call(tool, arguments)

    def stop(self) -> None:
        """Start the shutdown of the server without waiting; calls fail."""
        with self._lock:
            self._closed = True
        for link in self._links:
            link.stop()

    def close(self) -> None:
        """Shut down the server and wait until it has ended."""
        self.stop()
        for link in self._links:
            link.close()

    def _link(self) -> Link:
        with self._lock:
            if self._closed:
                raise ConnectionError("the session ends")
            if not self._links or (self._links[-1].lost and self._target.comes_back):
                self._links.append(Link(self._target, self._timeout))
            return self._links[-1]
