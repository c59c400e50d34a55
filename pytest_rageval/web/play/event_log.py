"""Event log of one question; any number of requests can follow it live."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_rageval.llm.secrets import redact_json

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
        """The event in the format of server-sent events; secrets of the environment are masked."""
        data = json.dumps(redact_json(dict(self.data)), ensure_ascii=True)
        return f"id: {self.id}\nevent: {self.name}\ndata: {data}\n\n"


class EventLog:
    """Events in order; threads add events, and coroutines follow them."""

    def __init__(self) -> None:
        self.events: list[LoggedEvent] = []
        self._lock = threading.Lock()
        self._ended = False
        self._followers: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    def add(self, name: str, data: Mapping[str, Any]) -> None:
        """Add an event; an ended log ignores it."""
        with self._lock:
            if not self._ended:
                self.events.append(LoggedEvent(len(self.events) + 1, name, data))
        self._wake()

    def end(self) -> None:
        """End the log; followers stop after its last event."""
        with self._lock:
            self._ended = True
        self._wake()

    async def follow(self) -> AsyncIterator[LoggedEvent]:
        """Yield all events so far, then each new one."""
        news = asyncio.Event()
        follower = (asyncio.get_running_loop(), news)
        with self._lock:
            self._followers.append(follower)
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
                self._followers.remove(follower)

    def _wake(self) -> None:
        with self._lock:
            followers = list(self._followers)
        for loop, news in followers:
            if not loop.is_closed():
                loop.call_soon_threadsafe(news.set)
