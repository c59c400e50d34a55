"""A server on the loopback, on a thread with an event loop of its own."""

from __future__ import annotations

import asyncio
import threading
from abc import ABC, abstractmethod
from types import TracebackType
from typing import TypeVar

__all__ = ["LoopbackServer"]

S = TypeVar("S", bound="LoopbackServer")


class LoopbackServer(ABC):
    """Serves from the start of a ``with`` block to its end.

    Attributes:
        base_url: its address, as the ``api_base`` of a model.
        port: its port.
    """

    base_url: str = ""
    port: int = 0

    def __enter__(self: S) -> S:
        ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(ready)), name=type(self).__name__)
        self._thread.start()
        ready.wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()

    @abstractmethod
    async def listen(self) -> asyncio.Server:
        """Return the server, which listens on a port of 127.0.0.1 that is free."""

    @abstractmethod
    async def hang_up(self) -> None:
        """End the connections."""

    async def _serve(self, ready: threading.Event) -> None:
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        server = await self.listen()
        self.port = int(server.sockets[0].getsockname()[1])
        self.base_url = f"http://127.0.0.1:{self.port}/v1"
        ready.set()
        await self._over.wait()
        server.close()
        await self.hang_up()
