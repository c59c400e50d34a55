"""Money: a limit that the processes of a run share, and that no call may pass."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

from filelock import FileLock

from pytest_rageval.errors import ModelError

__all__ = ["Budget"]

POLL_S = 0.0002
"""Seconds between two looks at a lock that another process holds; it holds it for about as long."""

LOOK_S = 0.02
"""Seconds between two looks at what the other processes have in flight."""

PATIENCE_S = 60.0
"""Seconds that a process waits for calls of others while none of them ends: it may have been killed."""

LENGTH = 100
"""Bytes of the file, spaces at its end included, so that each state covers the last."""

DIGITS = 12
"""Decimals of a dollar that are kept: sums of prices are compared without the noise of binary fractions."""

_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)


class Budget:
    """A limit on what all processes that name the same file spend together.

    A call reserves the most it may cost and afterwards settles for what it did cost, so that the limit holds while
    calls are in flight. What a killed process had reserved stays reserved, and is waited for for a minute.

    Args:
        limit_usd: the most to be spent, in US dollars.
        path: the file that the processes share; without it nothing is spent.
    """

    def __init__(self, limit_usd: float, path: Path) -> None:
        self.limit_usd = limit_usd
        self._path = path
        self._lock = FileLock(path.with_name(f"{path.name}.lock"))
        self._held = 0
        self._turn = asyncio.Lock()
        self._settled = asyncio.Event()
        self._refusal: str | None = None

    async def reserve(self, most_usd: float, assumed: str = "") -> None:
        """Set ``most_usd`` aside as `_reserve` does; a refusal ends with what was ``assumed`` of the price."""
        try:
            await self._reserve(most_usd)
        except ModelError as error:
            if not assumed:
                raise
            raise ModelError("budget", f"{error} ({assumed})", attempts=0) from None

    async def _reserve(self, most_usd: float) -> None:
        """Set ``most_usd`` aside; wait while calls in flight, also those of other processes, may leave enough.

        Raises `ModelError` of kind ``budget`` when they may not; from then on always.
        """
        async with self._turn:
            since, before = monotonic(), None
            while (purse := self._purse_without(most_usd)) is not None:
                if purse != before:
                    since, before = monotonic(), purse
                if not self._held and monotonic() - since > PATIENCE_S:
                    raise self._refused(most_usd, purse)
                self._settled.clear()
                look = asyncio.get_running_loop().call_later(LOOK_S, self._settled.set)
                try:  # wait_for of Python 3.11 and before may swallow a cancellation
                    await self._settled.wait()
                finally:
                    look.cancel()

    def settle(self, most_usd: float, spent_usd: float) -> None:
        """Give back what was reserved for a call that has ended, and count what it cost."""
        with self._shared() as purse:
            purse["reserved"] -= most_usd
            purse["spent"] += spent_usd
        self._held -= 1
        self._settled.set()

    def _purse_without(self, most_usd: float) -> dict[str, float] | None:
        """Reserve, and return None, or the purse that lacks it now; where it always will, raise the refusal."""
        if self._refusal is not None:
            raise ModelError("budget", self._refusal, attempts=0)
        with self._shared() as purse:
            after = round(purse["spent"] + most_usd, DIGITS)
            if round(after + purse["reserved"], DIGITS) <= self.limit_usd:
                purse["reserved"] += most_usd
                self._held += 1
                return None
        if after > self.limit_usd:
            raise self._refused(most_usd, purse)
        return purse

    def _refused(self, most_usd: float, purse: Mapping[str, float]) -> ModelError:
        self._refusal = (
            f"the budget of ${self.limit_usd:,.6g} would be passed by a call that may cost ${most_usd:,.6g}, "
            f"with ${purse['spent']:,.6g} spent and ${purse['reserved']:,.6g} reserved for calls in flight; "
            "raise --rag-budget-usd"
        )
        return ModelError("budget", self._refusal, attempts=0)

    @contextmanager
    def _shared(self) -> Iterator[dict[str, float]]:
        """Hold the file, and write it anew when the block is through: in one call, which a kill does not cut."""
        with self._lock.acquire(poll_interval=POLL_S), open(os.open(self._path, _FLAGS), "r+b", buffering=0) as file:
            text = file.read()
            purse: dict[str, float] = json.loads(text) if text else {"spent": 0.0, "reserved": 0.0}
            before = dict(purse)
            yield purse
            if purse != before:
                file.seek(0)
                file.write(json.dumps({key: round(usd, DIGITS) for key, usd in purse.items()}).ljust(LENGTH).encode())
