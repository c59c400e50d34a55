"""Wait for the answer to a request that another thread may stop."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import wait
from typing import TypeVar

from pytest_rageval.engine.case_executor import CaseExecutor, CaseResponses
from pytest_rageval.engine.loop import LoopFuture, LoopThread
from pytest_rageval.engine.task import Task
from pytest_rageval.errors import CaseError
from pytest_rageval.hooks.run.failures import responses_or_error

__all__ = ["CANCELLED", "ask_until", "wait_for"]

T = TypeVar("T")

CANCELLED = "cancelled"
"""The error kind of a request that was stopped."""

GRACE_S = 5.0
"""Seconds that a stopped request may take to end by itself; after that nothing waits for it."""

POLL_S = 0.05
"""Seconds between checks whether a request was stopped."""


def ask_until(
    stop: threading.Event,
    loop: LoopThread,
    executor: CaseExecutor,
    ask: Callable[[], Awaitable[CaseResponses]],
    task: Task,
) -> CaseResponses:
    """Ask on the event loop and wait for the answer; after ``stop``, return an error of kind `CANCELLED`.

    Args:
        stop: set by another thread to end the request.
        loop: runs the request.
        executor: its system; an async system is cancelled at once, a sync one gets `GRACE_S` to end by itself.
        ask: asks the system.
        task: the case to ask.
    """
    running = loop.start(ask)
    grace = 0.0 if getattr(executor.answerer, "waits", False) else GRACE_S
    try:
        return responses_or_error(lambda: wait_for(running, stop, grace), task)
    except CaseError as error:
        return CaseResponses(error=error)


def wait_for(running: LoopFuture[T], stop: threading.Event, grace: float) -> T:
    """Return the result of a request; after ``stop``, cancel the request if it does not end in ``grace`` seconds.

    Raises:
        CaseError: the request was stopped.
    """
    while not _ends(running, POLL_S) and not stop.is_set():
        continue
    if _ends(running, grace):
        return running.result()
    running.cancel()
    if not _ends(running, GRACE_S):
        raise CaseError(CANCELLED, "stopped; its code does not end, and still runs: start rageval play again")
    if not grace:
        raise CaseError(CANCELLED, "stopped")
    raise CaseError(CANCELLED, f"stopped after {GRACE_S:g} s; a sync system cannot be ended, and still runs")


def _ends(running: LoopFuture[T], seconds: float) -> bool:
    """Wait some seconds, and return whether the request has ended."""
    return bool(wait((running.launch(),), seconds).done)
