"""Retry failed model calls, with waits in between and a deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from random import Random
from typing import Any, TypeVar

from pytest_rageval.errors import ModelError
from pytest_rageval.llm.client.rate_limiter import Limiter

__all__ = ["RETRYABLE", "RetryPolicy", "Tries"]

T = TypeVar("T")

RETRYABLE = frozenset({"rate_limited", "timeout", "connection", "server_error", "malformed_response", "truncated"})
"""Kinds of `ModelError` that may succeed on a retry."""

_random = Random()  # noqa: S311 - separate, to leave the user's seeded generator alone


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The limits of retries: attempts, waits and deadline.

    Attributes:
        attempts: maximum requests of a call, at least 1.
        deadline_s: maximum seconds from a call's first request to its reply.
        base_s: maximum wait after the first failure, in seconds; it doubles after each failure.
        cap_s: maximum wait after any failure, in seconds, unless the provider asks for more.
    """

    attempts: int = 8
    deadline_s: float = 300.0
    base_s: float = 0.1
    cap_s: float = 30.0

    def wait_s(self, failures: int, retry_after: float | None) -> float:
        """Return the seconds to wait: random up to the maximum, but at least what the provider asks for."""
        longest = min(self.cap_s, self.base_s * 2 ** min(failures - 1, 64))
        return max(_random.uniform(0.0, longest), retry_after or 0.0)


class Tries:
    """Makes the attempts of one call.

    Attributes:
        sent: the number of requests that were sent.
        pending: whether a request is in flight; after a cancellation, whether one was in flight.
        reply: the last reply, even if `run` was cancelled before it returned the reply.
    """

    def __init__(self, policy: RetryPolicy, limiter: Limiter) -> None:
        self.sent = 0
        self.pending = False
        self.reply: Any = None
        self._policy = policy
        self._turn = limiter.turn()
        self._clock: asyncio.TimerHandle | None = None
        self._is_over = False
        self._last: ModelError | None = None

    async def run(self, send: Callable[[], Awaitable[T]]) -> T:
        """Return the result of ``send``; retry it after the failures in `RETRYABLE`.

        The call holds a slot of the limiter only while ``send`` runs. If the policy allows no more attempts, raise the
        last `ModelError`, with their number. If the deadline ends a request, the kind is ``timeout``. Raise all other
        errors at once.
        """
        task = asyncio.ensure_future(self._repeat(send))
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            self._is_over = True
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            raise
        finally:
            if self._clock is not None:
                self._clock.cancel()
        if task.cancelled() and self._is_over:
            raise self._past_deadline()
        return task.result()

    async def _repeat(self, send: Callable[[], Awaitable[T]]) -> T:
        while True:
            try:
                async with self._turn:
                    return await self._once(send)
            except ModelError as error:
                self._last = error
                wait_s = self._wait_s(error)
            await asyncio.sleep(wait_s)

    async def _once(self, send: Callable[[], Awaitable[T]]) -> T:
        if self._clock is None:
            loop, task = asyncio.get_running_loop(), asyncio.current_task()
            self._clock = loop.call_later(self._policy.deadline_s, self._end_at_deadline, task)
        self.sent += 1
        self.pending = True
        try:
            self.reply = reply = await send()
        except Exception:
            self.pending = False
            raise
        self.pending = False
        return reply

    def _end_at_deadline(self, task: asyncio.Task[object] | None) -> None:
        self._is_over = True
        if task is not None:
            task.cancel()

    def _wait_s(self, error: ModelError) -> float:
        """Return the seconds before the next attempt; raise the last error if no attempt is left."""
        if self._is_over or error.kind not in RETRYABLE or self.sent >= self._policy.attempts:
            raise self._final(error)
        wait_s = self._policy.wait_s(self.sent, error.retry_after)
        if self._clock is None or wait_s >= self._clock.when() - asyncio.get_running_loop().time():
            asked = "" if error.retry_after is None else f", as the provider asks to be left alone for {wait_s:,.3g} s"
            raise self._final(error, f"another try would pass the deadline of {self._policy.deadline_s:,.6g} s{asked}")
        return wait_s

    def _past_deadline(self) -> ModelError:
        after = f"the deadline of {self._policy.deadline_s:,.6g} s"
        if self._last is None or self.pending:
            return self._final(ModelError("timeout", f"there was no reply within {after}"))
        return self._final(self._last, f"{after} has passed")

    def _final(self, error: ModelError, why: str = "") -> ModelError:
        """Return ``error`` with the number of attempts and the reason to stop."""
        if self.sent == error.attempts < 2 and not why:
            return error
        times = {1: "once", 2: "twice"}.get(self.sent, f"{self.sent} times")
        text = f"{error} (tried {times}; {why})" if why else f"{error} (tried {times})"
        final = ModelError(error.kind, text, retry_after=error.retry_after, attempts=self.sent)
        final.__cause__ = error.__cause__
        return final.with_traceback(error.__traceback__)
