"""Limit the requests in flight; the limit adapts to the provider's refusals."""

from __future__ import annotations

import asyncio
from heapq import heappop, heappush
from itertools import count

from pytest_rageval.errors import ModelError

__all__ = ["Limiter", "Turn"]

GAIN = 1 / 8
"""The weight of the newest reply in the share of refusals."""


class Limiter:
    """Assigns slots for requests on one event loop, in the order of the calls; retries keep the place of their call.

    There are ``max_in_flight`` slots at first. If a request is refused as ``rate_limited``, the limit falls by the
    share of refusals among the latest requests (a moving average). So many refusals lower the limit fast, and a single
    one hardly. An answered request adds 1/n of a slot if there are n slots. Other failures change nothing.

    Args:
        max_in_flight: the maximum number of requests in flight, at least 1.
    """

    def __init__(self, max_in_flight: int) -> None:
        self._max_in_flight = float(max_in_flight)
        self._bound = self._max_in_flight
        self._refusals = 0.0
        self._in_flight = 0
        self._is_scheduled = False
        self._numbers = count()
        self._waiting: list[tuple[int, asyncio.Future[ModelError | None]]] = []  # a heap
        self._refusal: ModelError | None = None

    @property
    def bound(self) -> float:
        """The current limit in ``1..max_in_flight``; only its whole part counts."""
        return self._bound

    @property
    def in_flight(self) -> int:
        """The number of slots in use."""
        return self._in_flight

    def turn(self) -> Turn:
        """Return a call's place at the end of the queue."""
        return Turn(self, next(self._numbers))

    def close(self, refusal: ModelError) -> None:
        """Close all slots, because no request can succeed; all calls fail with the kind and message of ``refusal``."""
        self._refusal = refusal
        while self._waiting:
            _, slot = heappop(self._waiting)
            if not slot.done():
                slot.set_result(refusal)

    async def _enter(self, number: int) -> None:
        refusal = self._refusal or await self._wait_for_slot(number)
        if refusal is not None:
            raise ModelError(refusal.kind, str(refusal), attempts=0)

    async def _wait_for_slot(self, number: int) -> ModelError | None:
        """Wait for a slot, and return None; return the refusal if the limiter is closed first."""
        slot: asyncio.Future[ModelError | None] = asyncio.get_running_loop().create_future()
        heappush(self._waiting, (number, slot))
        self._schedule()
        try:
            return await slot
        except asyncio.CancelledError:
            if not slot.cancelled() and slot.result() is None:  # it was granted at the same moment
                self._leave()
            raise

    def _leave(self) -> None:
        self._in_flight -= 1
        self._schedule()

    def _schedule(self) -> None:
        """Schedule `_assign_slot` on the event loop, if a slot is free and a call waits."""
        if not self._is_scheduled and self._waiting and self._free():
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._assign_slot)

    def _assign_slot(self) -> None:
        self._is_scheduled = False
        while self._waiting and self._free():
            _, slot = heappop(self._waiting)
            if not slot.done():  # otherwise the waiting call was cancelled
                self._in_flight += 1
                slot.set_result(None)
                break
        self._schedule()

    def _free(self) -> bool:
        return self._in_flight < int(self._bound)

    def _learn(self, *, refused: bool) -> None:
        self._refusals += GAIN * (refused - self._refusals)
        change = -self._refusals if refused else 1 / self._bound
        self._bound = min(max(self._bound + change, 1.0), self._max_in_flight)


class Turn:
    """A call's place in the queue of a `Limiter`; ``async with`` waits for a slot and holds it."""

    def __init__(self, limiter: Limiter, number: int) -> None:
        self._limiter = limiter
        self._number = number

    async def __aenter__(self) -> None:
        await self._limiter._enter(self._number)

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: object) -> None:
        if error is None:
            self._limiter._learn(refused=False)
        elif isinstance(error, ModelError) and error.kind == "rate_limited":
            self._limiter._learn(refused=True)
        self._limiter._leave()
