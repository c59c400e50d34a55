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
"""Advice in the message that a budget is spent."""

POLL_S = 0.0002
"""Seconds between two checks of a lock; processes hold it for about as long."""

LOOK_S = 0.02
"""Seconds between two checks of other processes' calls in flight."""

PATIENCE_S = 60.0
"""Seconds to wait for other processes while none of their calls ends: they may have been killed."""

LENGTH = 100
"""Size of the file in bytes, padded with spaces: new totals overwrite the old ones completely."""

DIGITS = 12
"""Decimals of amounts in dollars: rounding removes the noise of binary fractions."""

_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)


class Budget:
    """A limit on the total spending of all processes that share a file.

    A call reserves its maximum cost, and settles its actual cost afterwards. So the limit holds while calls are in
    flight. The reservations of a killed process remain; other processes wait a minute for them.

    Args:
        limit_usd: the limit in US dollars.
        path: the shared file; if it is missing, nothing is spent yet.
    """

    def __init__(self, limit_usd: float, path: Path) -> None:
        self.limit_usd = limit_usd
        self._path = path
        self._lock = FileLock(path.with_name(f"{path.name}.lock"))
        self._n_reserved = 0
        self._queue = asyncio.Lock()
        self._settled = asyncio.Event()
        self._refusal: str | None = None

    async def reserve(self, max_usd: float, assumed: str = "") -> None:
        """Reserve ``max_usd``; the message of a refusal ends with ``assumed``, the assumption about the price."""
        try:
            await self._reserve(max_usd)
        except ModelError as error:
            if not assumed:
                raise
            raise ModelError("budget", f"{error} ({assumed})", attempts=0) from None

    async def _reserve(self, max_usd: float) -> None:
        """Reserve ``max_usd``; wait while the money may suffice once the calls in flight, in any process, have ended.

        Raise `ModelError` of kind ``budget`` if it cannot suffice, and from then on for every call.
        """
        async with self._queue:
            since, before = monotonic(), None
            while (totals := self._try_reserve(max_usd)) is not None:
                if totals != before:
                    since, before = monotonic(), totals
                if not self._n_reserved and monotonic() - since > PATIENCE_S:
                    raise self._make_refusal(max_usd, totals)
                self._settled.clear()
                look = asyncio.get_running_loop().call_later(LOOK_S, self._settled.set)
                try:  # wait_for of Python 3.11 and older may swallow a cancellation
                    await self._settled.wait()
                finally:
                    look.cancel()

    def try_reserve(self, max_usd: float, *, last: bool) -> bool:
        """Reserve ``max_usd`` without waiting, from any thread; return False if it may succeed later.

        Raise `ModelError` of kind ``budget`` if it cannot succeed, or if this is the ``last`` try.
        """
        totals = self._try_reserve(max_usd)
        if totals is not None and last:
            raise self._make_refusal(max_usd, totals)
        return totals is None

    def settle(self, max_usd: float, spent_usd: float) -> None:
        """Release a call's reservation, count its cost, and wake up the calls that wait."""
        self.release(max_usd, spent_usd)
        self._settled.set()

    def release(self, max_usd: float, spent_usd: float) -> None:
        """Release a call's reservation and count its cost, from any thread; waiting calls notice it a little later."""
        with self._shared() as totals:
            totals["reserved"] -= max_usd
            totals["spent"] += spent_usd
            self._n_reserved -= 1

    def spend(self, usd: float) -> None:
        """Count a cost without a reservation, such as the cost that an answer reports."""
        with self._shared() as totals:
            totals["spent"] += usd

    @property
    def left_usd(self) -> float:
        """US dollars that are neither spent nor reserved."""
        with self._shared() as totals:
            return max(0.0, round(self.limit_usd - totals["spent"] - totals["reserved"], DIGITS))

    def check(self) -> None:
        """Raise `ModelError` of kind ``budget`` if the limit is spent; for systems that report costs afterwards."""
        with self._shared() as totals:
            spent = totals["spent"]
        if spent and round(spent, DIGITS) >= self.limit_usd:
            problem = f"the budget of ${self.limit_usd:,.6g} is spent: calls and answers so far cost ${spent:,.6g}"
            raise ModelError("budget", f"{problem}; {MORE}", attempts=0)

    def _try_reserve(self, max_usd: float) -> dict[str, float] | None:
        """Reserve, and return None; if the money does not suffice now, return the totals; raise if it never will."""
        if self._refusal is not None:
            raise ModelError("budget", self._refusal, attempts=0)
        with self._shared() as totals:
            after = round(totals["spent"] + max_usd, DIGITS)
            if round(after + totals["reserved"], DIGITS) <= self.limit_usd:
                totals["reserved"] += max_usd
                self._n_reserved += 1
                return None
        if after > self.limit_usd:
            raise self._make_refusal(max_usd, totals)
        return totals

    def _make_refusal(self, max_usd: float, totals: Mapping[str, float]) -> ModelError:
        self._refusal = (
            f"the budget of ${self.limit_usd:,.6g} would be passed by a call that may cost ${max_usd:,.6g}, "
            f"with ${totals['spent']:,.6g} spent and ${totals['reserved']:,.6g} reserved for calls in flight; {MORE}"
        )
        return ModelError("budget", self._refusal, attempts=0)

    @contextmanager
    def _shared(self) -> Iterator[dict[str, float]]:
        """Lock the file and read its totals; write them after the block, in one call that a kill cannot cut."""
        with self._lock.acquire(poll_interval=POLL_S), open(os.open(self._path, _FLAGS), "r+b", buffering=0) as file:
            text = file.read()
            totals: dict[str, float] = json.loads(text) if text else {"spent": 0.0, "reserved": 0.0}
            before = dict(totals)
            yield totals
            if totals != before:
                file.seek(0)
                file.write(json.dumps({key: round(usd, DIGITS) for key, usd in totals.items()}).ljust(LENGTH).encode())
