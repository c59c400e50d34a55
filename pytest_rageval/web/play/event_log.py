"""The events of one question, which any number of requests can follow while it is asked."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_rageval.llm.secrets import redacted

__all__ = ["EventLog", "LoggedEvent"]


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """An event.

    Attributes:
        id: its number, from 1.
        name: what happened: ``asked``, ``step``, ``answer``, ``scores`` or ``error``.
        data: JSON values.
    """

    id: int
    name: str
    data: Mapping[str, Any]

    @property
    def text(self) -> str:
        """The event as a stream of events sends it; secrets of the environment are masked."""
        data = json.dumps(redacted(dict(self.data)), ensure_ascii=True)
        return f"id: {self.id}\nevent: {self.name}\ndata: {data}\n\n"


class EventLog:
    """Events in order; threads add them, coroutines follow them."""

    def __init__(self) -> None:
        self.events: list[LoggedEvent] = []
        self._lock = threading.Lock()
        self._ended = False
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    def add(self, name: str, data: Mapping[str, Any]) -> None:
        """Add an event; after the end, nothing is added."""
        with self._lock:
            if not self._ended:
                self.events.append(LoggedEvent(len(self.events) + 1, name, data))
        self._wake()

    def end(self) -> None:
        """Say that no event follows."""
        with self._lock:
            self._ended = True
        self._wake()

    async def follow(self) -> AsyncIterator[LoggedEvent]:
        """Yield all events, the later ones as they come."""
        news = asyncio.Event()
        waiter = (asyncio.get_running_loop(), news)
        with self._lock:
            self._waiting.append(waiter)
        try:
            sent = 0
            while True:
                news.clear()
                with self._lock:
                    new, ended = self.events[sent:], self._ended
                for event in new:
                    yield event
                sent += len(new)
                if ended:
                    return
                await news.wait()
        finally:
            with self._lock:
                self._waiting.remove(waiter)

    def _wake(self) -> None:
        with self._lock:
            waiting = list(self._waiting)
        for loop, news in waiting:
            if not loop.is_closed():
                loop.call_soon_threadsafe(news.set)
