"""The keys of requests in flight, to send identical requests only once."""

from __future__ import annotations

import threading

__all__ = ["InFlight"]


class InFlight:
    """Keys of requests in flight; of several identical requests only the one with the claim is sent. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._keys: set[str] = set()

    def claim(self, key: str) -> bool:
        """Add a key; return False if an identical request is already in flight."""
        with self._lock:
            if key in self._keys:
                return False
            self._keys.add(key)
            return True

    def release(self, key: str) -> None:
        """Remove a key."""
        with self._lock:
            self._keys.discard(key)
