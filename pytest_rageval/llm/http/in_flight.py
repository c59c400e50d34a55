"""The recordable requests that are on their way."""

from __future__ import annotations

import threading

__all__ = ["InFlight"]


class InFlight:
    """Keys of requests in flight, so that of identical ones only one is sent; safe to use from threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._keys: set[str] = set()

    def claim(self, key: str) -> bool:
        """Add a key; return False if it is there already."""
        with self._lock:
            if key in self._keys:
                return False
            self._keys.add(key)
            return True

    def release(self, key: str) -> None:
        """Remove a key."""
        with self._lock:
            self._keys.discard(key)
