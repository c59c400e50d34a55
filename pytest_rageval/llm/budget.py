"""A spending limit shared by the processes of a run."""

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

MORE = "raise --rag-budget-usd, and go on with --rag-resume"
"""What to do when a budget is used up."""

POLL_S = 0.0002
"""Seconds between two checks of a lock; processes hold it for about as long."""

LOOK_S = 0.02
"""Seconds between two checks of other processes' calls in flight."""

PATIENCE_S = 60.0
"""Seconds to wait for other processes while none of their calls ends: they may have been killed."""

LENGTH = 100
"""Bytes of the file, padded with spaces: each state overwrites the previous one completely."""

DIGITS = 12
"""Decimals of amounts in dollars: rounding removes the noise of binary fractions."""

_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)


class Budget:
    """A limit on the total spending of all processes that share a file.

    A call reserves its maximum cost, and settles its actual cost afterwards. So the limit holds while calls are in
    flight. Reservations of a killed process stay; others wait for them for a minute.

    Args:
        limit_usd: the limit in US dollars.
        path: the shared file; if it is missing, nothing is spent yet.
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
        """Reserve ``most_usd``; a refusal ends with the assumption about the price."""
        try:
            await self._reserve(most_usd)
        except ModelError as error:
            if not assumed:
                raise
            raise ModelError("budget", f"{error} ({assumed})", attempts=0) from None

    async def _reserve(self, most_usd: float) -> None:
        """Reserve ``most_usd``; wait while calls in flight, here or in other processes, may still leave enough.

        Raises `ModelError` of kind ``budget`` if they cannot, and from then on for every call.
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
                try:  # wait_for of Python 3.11 and older may swallow a cancellation
                    await self._settled.wait()
                finally:
                    look.cancel()

    def try_reserve(self, most_usd: float, *, last: bool) -> bool:
        """Reserve ``most_usd`` without waiting, from any thread; return False while calls in flight may leave enough.

        Raises `ModelError` of kind ``budget`` if they cannot, or if it is the ``last`` try.
        """
        purse = self._purse_without(most_usd)
        if purse is not None and last:
            raise self._refused(most_usd, purse)
        return purse is None

    def settle(self, most_usd: float, spent_usd: float) -> None:
        """Release a call's reservation and count its cost."""
        self.release(most_usd, spent_usd)
        self._settled.set()

    def release(self, most_usd: float, spent_usd: float) -> None:
        """Do the same from any thread; calls that wait on the event loop notice it a little later."""
        with self._shared() as purse:
            purse["reserved"] -= most_usd
            purse["spent"] += spent_usd
            self._held -= 1

    def spend(self, usd: float) -> None:
        """Count the cost that an answer reports, without a reservation."""
        with self._shared() as purse:
            purse["spent"] += usd

    @property
    def left_usd(self) -> float:
        """The dollars that are neither spent nor reserved."""
        with self._shared() as purse:
            return max(0.0, round(self.limit_usd - purse["spent"] - purse["reserved"], DIGITS))

    def check(self) -> None:
        """Raise `ModelError` of kind ``budget`` if the limit is spent; for systems with cost known only afterwards."""
        with self._shared() as purse:
            spent = purse["spent"]
        if spent and round(spent, DIGITS) >= self.limit_usd:
            problem = f"the budget of ${self.limit_usd:,.6g} is spent: calls and answers so far cost ${spent:,.6g}"
            raise ModelError("budget", f"{problem}; {MORE}", attempts=0)

    def _purse_without(self, most_usd: float) -> dict[str, float] | None:
        """Reserve and return None, or return the state that lacks the money now; raise if it always will."""
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
            f"with ${purse['spent']:,.6g} spent and ${purse['reserved']:,.6g} reserved for calls in flight; {MORE}"
        )
        return ModelError("budget", self._refusal, attempts=0)

    @contextmanager
    def _shared(self) -> Iterator[dict[str, float]]:
        """Lock the file; write it after the block, in one call that a kill cannot cut."""
        with self._lock.acquire(poll_interval=POLL_S), open(os.open(self._path, _FLAGS), "r+b", buffering=0) as file:
            text = file.read()
            purse: dict[str, float] = json.loads(text) if text else {"spent": 0.0, "reserved": 0.0}
            before = dict(purse)
            yield purse
            if purse != before:
                file.seek(0)
                file.write(json.dumps({key: round(usd, DIGITS) for key, usd in purse.items()}).ljust(LENGTH).encode())
