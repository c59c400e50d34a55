"""Access of generation to models: clients by name, and concurrent calls with their usage."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import fsum
from typing import Any, TypeVar

from pytest_rageval.llm.client.usage_meter import SCOPE, Meter, Scope
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.chat import ChatModel, Message

__all__ = ["ModelAccess", "add_usage", "run_all", "usage_lines"]

T = TypeVar("T")

_NONE: Mapping[str, object] = {}


@dataclass(frozen=True, slots=True)
class ModelAccess:
    """The models of a session.

    Attributes:
        client: name of a model -> its client, which records, limits, retries and meters calls.
        run: waits for a coroutine and returns its result.
        params: the parameters of every call, such as prices and ``max_tokens``, for estimates.
        replays: (name, messages) -> whether a recording has the reply.
    """

    client: Callable[[str], ChatModel]
    run: Callable[[Coroutine[Any, Any, Any]], Any] = asyncio.run
    params: Mapping[str, object] = field(default_factory=lambda: _NONE)
    replays: Callable[[str, Sequence[Message]], bool] = lambda name, messages: False


def run_all(access: ModelAccess, work: Iterable[Callable[[], Awaitable[T]]]) -> list[tuple[T, Calls]]:
    """Run coroutines concurrently; return their results in order, each with its model calls."""
    results: list[tuple[T, Calls]] = access.run(_gather(list(map(partial(partial, _run_metered), work))))
    return results


def add_usage(usage: dict[str, float], calls: Sequence[Calls]) -> None:
    """Add calls to the usage of a plan, which is empty at first; a key with an unknown amount is removed.

    Replayed calls count at their recorded price, so a plan that resumes after a kill reports the same sums.
    """
    is_first = not usage
    for name in ("calls", "prompt_tokens", "completion_tokens", "cost_usd"):
        amounts = [getattr(each, name) for each in calls]
        if None in amounts or not (is_first or name in usage):
            usage.pop(name, None)
        else:
            total = fsum([usage.get(name, 0), *amounts])
            usage[name] = round(total, 12) if name == "cost_usd" else int(total)


def usage_lines(usage: Mapping[str, float]) -> Iterator[str]:
    """Yield a line with the calls, tokens and cost of a plan's models; nothing without calls."""
    if usage.get("calls"):
        prompts, replies, usd = (usage.get(name) for name in ("prompt_tokens", "completion_tokens", "cost_usd"))
        counts = (
            "" if prompts is None or replies is None else f", {prompts:,} tokens in prompts and {replies:,} in replies"
        )
        cost = "price unknown" if usd is None else f"{usd:,.4f} USD" if usd else "0 USD"
        yield f"models: {usage['calls']:,} calls{counts}, {cost}"


async def _gather(work: Sequence[Callable[[], Awaitable[T]]]) -> list[T]:
    return list(await asyncio.gather(*(each() for each in work)))


async def _run_metered(work: Callable[[], Awaitable[T]]) -> tuple[T, Calls]:
    """Await ``work`` and return its result and its calls; its task has its own context, so its meter is separate."""
    meter = Meter()
    SCOPE.set(Scope(meter))
    return await work(), meter.calls
