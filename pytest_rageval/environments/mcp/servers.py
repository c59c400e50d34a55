"""The kinds of MCP servers: a command, an address, an object in this process."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol, TextIO, cast

from pytest_rageval.errors import ascii_safe
from pytest_rageval.llm.secrets import mask

if TYPE_CHECKING:
    import httpx2

__all__ = ["STATUSES", "Address", "Command", "Object", "Target"]

LONGEST_ERROR = 10_000
"""Number of last bytes of a server's stderr that are read for a message."""

LARGEST_EVENT = 32 << 20
"""Largest reply over HTTP, in bytes."""

STATUSES: ContextVar[list[int] | None] = ContextVar("rageval_mcp_statuses", default=None)
"""The HTTP statuses of the replies to the current call."""


class Target(Protocol):
    """A server that a client of the package mcp can connect to."""

    @property
    def comes_back(self) -> bool:
        """Whether to connect again after a loss: true for servers that others run."""
        ...

    def transport(self, timeout: float) -> Any:
        """Return the server as `mcp.Client` accepts it; ``timeout`` is in seconds."""
        ...

    def hint(self) -> str:
        """Return the last line of the server's error output; "" if there is none."""
        ...

    def close(self) -> None:
        """Release the resources of `transport` after the connection has ended."""
        ...


@dataclass(eq=False, slots=True)
class Command:
    """A process that this session starts and ends.

    Attributes:
        words: the program and its arguments.
        folder: its working directory.
    """

    words: Sequence[str]
    folder: Path
    comes_back: bool = field(default=False, init=False)
    _errors: IO[bytes] | None = field(default=None, init=False)

    def transport(self, timeout: float) -> Any:
        from mcp import StdioServerParameters, stdio_client

        program, *arguments = self.words
        params = StdioServerParameters(command=program, args=arguments, cwd=self.folder, env=dict(os.environ))
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - it lasts as long as the server
        return stdio_client(params, errlog=cast("TextIO", self._errors))

    def hint(self) -> str:
        """Return the last line of its stderr."""
        if self._errors is None:
            return ""
        self._errors.seek(max(0, self._errors.seek(0, os.SEEK_END) - LONGEST_ERROR))
        lines = self._errors.read().decode("utf-8", "replace").split("\n")
        texts = [line.strip() for line in lines if line.strip()]
        return mask(ascii_safe(texts[-1])) if texts else ""

    def close(self) -> None:
        if self._errors is not None:
            self._errors.close()
            self._errors = None


@dataclass(frozen=True, slots=True)
class Address:
    """A server that others run, over streamable HTTP."""

    url: str
    comes_back: bool = field(default=True, init=False)

    def transport(self, timeout: float) -> Any:
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        waits = httpx2.Timeout(timeout, read=None)  # each call has its own time limit
        client = httpx2.AsyncClient(timeout=waits, event_hooks={"response": [_note_status]})
        return _ClosingTransport(
            client, streamable_http_client(self.url, http_client=client, max_sse_event_size=LARGEST_EVENT)
        )

    def hint(self) -> str:
        return ""

    def close(self) -> None:
        pass


@dataclass(frozen=True, slots=True)
class Object:
    """A server object in this process."""

    value: Any
    comes_back: bool = field(default=False, init=False)

    def transport(self, timeout: float) -> Any:
        return self.value

    def hint(self) -> str:
        return ""

    def close(self) -> None:
        pass


class _ClosingTransport:
    """A transport that closes its HTTP client at its end."""

    def __init__(self, client: httpx2.AsyncClient, transport: Any) -> None:
        self._client, self._transport = client, transport

    async def __aenter__(self) -> Any:
        return await self._transport.__aenter__()

    async def __aexit__(self, *error: Any) -> Any:
        try:
            return await self._transport.__aexit__(*error)
        finally:
            await self._client.aclose()


async def _note_status(response: httpx2.Response) -> None:
    statuses = STATUSES.get()
    if statuses is not None:
        statuses.append(response.status_code)
