"""A model as the session asks it: replayed or asked, within limits, recorded and charged."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pytest_rageval.errors import ModelError, SystemContractError, found
from pytest_rageval.llm.limiter import Limiter
from pytest_rageval.llm.meter import Meter, current
from pytest_rageval.llm.request import Request
from pytest_rageval.llm.retrying import RetryPolicy, Tries
from pytest_rageval.model.answer import Usage
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.chat import ChatModel, Completion, Message

if TYPE_CHECKING:
    from pytest_rageval.llm.budget import Budget
    from pytest_rageval.llm.cassettes import Cassettes

__all__ = ["Client"]

ASSUMED_TOKENS = 1024
"""The length that a reply may have, under a budget, when ``max_tokens`` does not say."""

_NO_PARAMS: Mapping[str, object] = MappingProxyType({})
_FREE, _UNKNOWN = Usage(0, 0, 0.0), Usage()


class Client:
    """A `ChatModel` that answers from a recording, else asks its backend, and charges the scope it is called in.

    A call counts once, with all the requests it sent. What it cost is what its reply cost: requests that failed are
    not billed as a rule, and count as no tokens and no cost. Of a call that is cancelled while a request is in flight
    the cost is unknown, and the budget counts the most it may have been.

    Args:
        backend: is asked, once for each request; where it has ``aclose()``, that is awaited at the end.
        name: of the model, as recordings and messages call it.
        kind: "model" or "judge".
        params: go with every call, unless the call has its own of that name.
        limiter: how many requests are in flight.
        retry: how long a call is tried.
        cassettes: the recordings; None always asks.
        budget: what may be spent; None is no limit.
        most: the most that a call may cost in US dollars, from its messages and its params, in which ``max_tokens``
            always is; None where the price is unknown. Needed under a budget.

    Attributes:
        succeeded: whether the backend has ever replied.
        refused: the first refusal (``auth``, ``not_found``), if the backend had not replied before; from then on every
            call is refused like that, and none is sent.
    """

    def __init__(
        self,
        backend: ChatModel,
        *,
        name: str,
        kind: str = "model",
        params: Mapping[str, object] = _NO_PARAMS,
        limiter: Limiter,
        retry: RetryPolicy,
        cassettes: Cassettes | None = None,
        budget: Budget | None = None,
        most: Callable[[Sequence[Message], Mapping[str, object]], float | None] | None = None,
    ) -> None:
        self.name = name
        self.kind = kind
        self.succeeded = False
        self.refused: ModelError | None = None
        self._backend = backend
        self._params = dict(params)
        self._limiter = limiter
        self._retry = retry
        self._cassettes = cassettes
        self._budget = budget
        self._most = most

    async def complete(self, messages: Sequence[Message], **params: object) -> Completion:
        """Return the model's reply.

        Raises `ModelError` when there is none; what else the backend raises goes through.
        """
        scope = current()
        merged = {**self._params, **params}
        if self._cassettes is None:
            return await self._ask(messages, merged, scope.meter)
        request = Request(self.kind, self.name, merged, messages, scope.repeat)
        response = self._cassettes.find(request)
        if response is None:
            completion = await self._ask(messages, merged, scope.meter)
            self._cassettes.record(request, _response(completion))
        else:
            completion = self._replayed(request, response)
            scope.meter.add(_calls(completion.usage, replayed=1, spent_usd=0.0))
        scope.meter.use(request.key, replayed=response is not None)
        return completion

    def replays(self, messages: Sequence[Message], repeat: int = 1) -> bool:
        """Return whether a recording would answer this repetition, so that the backend is not asked."""
        if self._cassettes is None:
            return False
        return self._cassettes.holds(Request(self.kind, self.name, self._params, messages, repeat))

    async def close(self) -> None:
        """Let the backend's connections go."""
        close = getattr(self._backend, "aclose", None)
        if close is not None:
            await close()

    async def _ask(self, messages: Sequence[Message], params: Mapping[str, object], meter: Meter) -> Completion:
        most_usd = await self._reserve(messages, params)
        tries = Tries(self._retry, self._limiter)
        usage = _FREE
        try:
            completion = await tries.run(lambda: self._send(messages, params))
            usage = completion.usage
            return replace(completion, attempts=tries.sent)
        except asyncio.CancelledError:
            usage = _UNKNOWN if tries.pending else _FREE
            raise
        finally:
            if tries.sent:
                meter.add(_calls(usage, attempts=tries.sent, spent_usd=usage.cost_usd))
            if self._budget is not None:
                self._budget.settle(most_usd, most_usd if usage.cost_usd is None else usage.cost_usd)

    async def _send(self, messages: Sequence[Message], params: Mapping[str, object]) -> Completion:
        begun = perf_counter()
        try:
            reply: object = self._backend.complete(messages, **params)
            completion = await reply if inspect.isawaitable(reply) else reply
        except ModelError as error:
            if error.kind in ("auth", "not_found") and not self.succeeded:
                self.refused = self.refused or error
                self._limiter.close(self.refused)  # before the slot of this request goes to the next
            raise
        self.succeeded = True
        if not isinstance(completion, Completion) or completion is reply:
            wanted = "return a Completion from `async def complete(messages, **params)`"
            raise SystemContractError(f"the model {self.name} returned {found(completion)}; {wanted}")
        if completion.usage.latency_s is not None:
            return completion
        return replace(completion, usage=replace(completion.usage, latency_s=perf_counter() - begun))

    async def _reserve(self, messages: Sequence[Message], params: Mapping[str, object]) -> float:
        """Set aside and return the most that a call may cost in US dollars, 0 without a budget."""
        if self._budget is None:
            return 0.0
        setting = f"rag_{self.kind}_params"
        said = params.get("max_completion_tokens") or params.get("max_tokens")
        most_usd = self._most(messages, {**params, "max_tokens": said or ASSUMED_TOKENS}) if self._most else None
        if most_usd is None:
            raise ModelError(
                "budget",
                f"the budget cannot be kept, as the price of {self.name} is unknown; "
                f"give input_cost_per_token and output_cost_per_token in {setting}",
                attempts=0,
            )
        try:
            await self._budget.reserve(most_usd)
        except ModelError as error:
            if said:
                raise
            assumed = f"a reply of {ASSUMED_TOKENS:,} tokens was assumed, as {setting} has no max_tokens"
            raise ModelError("budget", f"{error} ({assumed})", attempts=0) from None
        return most_usd

    def _replayed(self, request: Request, response: Mapping[str, Any]) -> Completion:
        try:
            return Completion(
                response["text"],
                Usage(response["prompt_tokens"], response["completion_tokens"], response["cost_usd"]),
                response["finish_reason"],
                response["model"],
                attempts=0,
                replayed=True,
            )
        except KeyError as error:
            lacks = f"the recording {request.key} of {self.name} has no {error}; delete it and record it again"
            raise ModelError("malformed_response", lacks, attempts=0) from None


def _response(completion: Completion) -> dict[str, Any]:
    """Return what is recorded of a reply; its seconds are not, as they differ each time."""
    usage = completion.usage
    return {
        "text": completion.text,
        "finish_reason": completion.finish_reason,
        "model": completion.model,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cost_usd": usage.cost_usd,
    }


def _calls(usage: Usage, *, spent_usd: float | None, attempts: int = 0, replayed: int = 0) -> Calls:
    return Calls(1, replayed, attempts, usage.prompt_tokens, usage.completion_tokens, usage.cost_usd, spent_usd)
