"""An event loop with a virtual clock: waits of minutes take milliseconds, and runs repeat exactly."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

__all__ = ["run_virtually"]

T = TypeVar("T")


class _Selector(selectors.SelectSelector):
    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise RuntimeError("every task waits, and no timer is set")
        self.now += max(timeout, 0.0)
        return super().select(0)


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self, selector: _Selector) -> None:
        self._virtual = selector
        super().__init__(selector)

    def time(self) -> float:
        return self._virtual.now


def run_virtually(coroutine: Coroutine[Any, Any, T]) -> tuple[T, float]:
    """Return what a coroutine returns, and the seconds that it took by its own clock."""
    loop = _Loop(_Selector())
    try:
        return loop.run_until_complete(coroutine), loop.time()
    finally:
        loop.close()
