"""The base class of model clients: replay, limit, retry, record and charge calls."""

from __future__ import annotations

import asyncio
import inspect
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from time import perf_counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from pytest_rageval.errors import MissingDependencyError, ModelError, SettingError, SystemContractError, short_repr
from pytest_rageval.llm.backends.faults import is_of_http, model_error, no_price
from pytest_rageval.llm.client.journal import JournaledCall
from pytest_rageval.llm.client.rate_limiter import Limiter
from pytest_rageval.llm.client.replies import calls_of, readable, reply_key, stored_usage, take_reply, usage_of
from pytest_rageval.llm.client.retry import RetryPolicy, Tries
from pytest_rageval.llm.client.session_calls import session_call
from pytest_rageval.llm.client.usage_meter import Meter, Scope, current, describe_fault
from pytest_rageval.llm.recordings.request import Request
from pytest_rageval.model.answer import Usage
from pytest_rageval.model.chat import Completion, Embeddings, Message

if TYPE_CHECKING:
    from pytest_rageval.llm.budget import Budget
    from pytest_rageval.llm.client.reply_cache import ReplyCache
    from pytest_rageval.llm.recordings.cassettes import Cassettes

__all__ = ["BaseClient", "LoopRunner"]

B = TypeVar("B")
R = TypeVar("R", Completion, Embeddings)

LoopRunner = Callable[[Callable[[], Awaitable[Any]]], Awaitable[Any]]
"""Runs a coroutine function on the session's event loop."""

_NO_PARAMS: Mapping[str, object] = MappingProxyType({})
_FREE = Usage(0, 0, 0.0)


class BaseClient(ABC, Generic[B, R]):
    """Replays a recorded reply or asks the backend, and charges the caller's scope.

    A call counts once, with all its requests. Its cost is that of its reply: providers usually do not bill failed
    requests, so these count no tokens and no cost. If a call is cancelled with a request in flight, its cost is
    unknown, and the budget counts its maximum. If identical calls are recorded or cached, only the first is sent; the
    others replay its reply.

    Args:
        backend: called once for each request; its ``aclose()``, if any, is awaited at the end.
        name: name of the model in recordings and messages.
        kind: kind of its calls in recordings; `KIND` by default.
        params: parameters of every call; a call's own parameters override them.
        limiter: limits the requests in flight.
        retry: the retry policy of a call.
        cassettes: the recordings; None always asks the backend.
        reply_cache: caches replies if there are no recordings; None caches nothing.
        budget: the spending limit; None for no limit.
        max_cost: returns the maximum cost of a call in US dollars from its messages and params, or None if unknown. The
            params always contain ``max_tokens``, `UNSET` if it is not set. Required with a budget.
        outside: meter of calls outside of any case; None does not count them.
        run_on_loop: runs calls on the event loop of limiter, budget and connections, from any loop; None if the caller
            makes all calls on one loop.

    Attributes:
        params: the parameters of every call.
        succeeded: whether the backend has ever replied.
        refused: the first refusal (``auth``, ``not_found``) before any reply; all later calls fail with it, unsent.
    """

    KIND: ClassVar[str]
    METHOD: ClassVar[str]
    """The backend's method and its arguments, for messages."""
    RETURNS: ClassVar[str]
    RATES: ClassVar[str]
    """The params that set the price of a call."""

    def __init__(
        self,
        backend: B,
        *,
        name: str,
        kind: str | None = None,
        params: Mapping[str, object] = _NO_PARAMS,
        limiter: Limiter,
        retry: RetryPolicy,
        cassettes: Cassettes | None = None,
        reply_cache: ReplyCache | None = None,
        budget: Budget | None = None,
        max_cost: Callable[[Sequence[Message], Mapping[str, object]], float | None] | None = None,
        outside: Meter | None = None,
        run_on_loop: LoopRunner | None = None,
    ) -> None:
        self.name = name
        self.kind = kind or self.KIND
        self.succeeded = False
        self.refused: ModelError | None = None
        self._backend = backend
        self.params: Mapping[str, object] = dict(params)
        self._limiter = limiter
        self._retry = retry
        self._cassettes = cassettes
        self._replies = cassettes or reply_cache
        self._budget = budget
        self._cost_bound = max_cost
        self._run_on_loop = run_on_loop
        self._outside = outside
        self._in_flight: dict[str, asyncio.Future[bool]] = {}  # by key, used only on the home loop

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the backend, because a test may inspect the requests of its model."""
        if name == "_backend":  # when copied, before the attribute exists
            raise AttributeError(name)
        return getattr(self._backend, name)

    def replays(self, payload: Sequence[Any], repeat: int = 1, params: Mapping[str, object] = _NO_PARAMS) -> bool:
        """Return whether this repetition of a call with ``params`` is recorded, so the backend would not be asked."""
        if self._cassettes is None:
            return False
        return self._cassettes.contains(Request(self.kind, self.name, {**self.params, **params}, payload, repeat))

    async def close(self) -> None:
        """Close the backend's connections."""
        close = getattr(self._backend, "aclose", None)
        if close is not None:
            await close()

    @abstractmethod
    def _start_request(self, payload: Sequence[Any], params: Mapping[str, object]) -> object:
        """Send one request; return the awaitable of the backend's method."""

    @abstractmethod
    def _is_reply(self, reply: object, payload: Sequence[Any]) -> bool:
        """Return whether a reply has the type that the backend must return."""

    @abstractmethod
    def _to_record(self, reply: R) -> dict[str, Any]:
        """Return the recorded fields of a reply, except tokens and price."""

    @abstractmethod
    def _from_record(self, response: Mapping[str, Any], usage: Usage) -> R:
        """Return the recorded reply; raise `KeyError` with the name of a missing field."""

    @abstractmethod
    def _max_cost(self, payload: Sequence[Any], params: Mapping[str, object]) -> tuple[float | None, str]:
        """Return the maximum cost of a call, and the assumption behind it ("" for none)."""

    async def _reply(self, payload: Sequence[Any], params: Mapping[str, object]) -> R:
        """Return the reply, replayed or new; raise `ModelError` if there is none. Other exceptions propagate."""
        scope = current(self._outside)
        merged = {**self.params, **params}
        ask = partial(self._ask, payload, merged, scope)
        if self._replies is None:
            return await self._on_loop(ask)
        try:
            request = Request(self.kind, self.name, merged, payload, scope.repeat)
        except SettingError:
            if self._cassettes is None:  # without recordings, params need no JSON form
                return await self._on_loop(ask)
            raise
        response = self._replies.find(request)
        if response is not None:
            return self._replay(request, response, scope.meter)
        return await self._on_loop(partial(self._ask_once, request, ask, self._replies, scope.meter))

    async def _on_loop(self, ask: Callable[[], Awaitable[R]]) -> R:
        reply: R = await (ask() if self._run_on_loop is None else self._run_on_loop(ask))
        return reply

    async def _ask_once(
        self, request: Request, ask: Callable[[], Awaitable[R]], reply_cache: Cassettes | ReplyCache, meter: Meter
    ) -> R:
        """Ask the backend and record its reply, or replay the reply of an identical call in flight.

        If that call fails, each waiting call asks the backend; if it is cancelled, one of them does.
        """
        first_failed = failed = False
        while not first_failed and (first := self._in_flight.get(request.key)) is not None:
            first_failed = await asyncio.shield(first)
        response = reply_cache.find(request)
        if response is not None:
            return self._replay(request, response, meter)
        ended = self._in_flight[request.key] = asyncio.get_running_loop().create_future()
        try:
            reply = await ask()
            response = reply_cache.find(request)
            if response is None:
                reply_cache.record(request, self._to_record(reply) | stored_usage(reply.usage))
            else:  # another waiting call was faster
                reply = replace(self._read(request.key, response), attempts=reply.attempts, replayed=False)
            if self._cassettes is not None:
                meter.use(request.key)
            return reply
        except Exception:
            failed = True
            raise
        finally:
            ended.set_result(failed)
            if self._in_flight.get(request.key) is ended:
                del self._in_flight[request.key]

    async def _ask(self, payload: Sequence[Any], params: Mapping[str, object], scope: Scope) -> R:
        """Return the reply from an interrupted run, or ask the backend."""
        if getattr(self._backend, "computes_here", False):  # asking again is free
            scope = replace(scope, journal=None)
        key = reply_key(scope, self.kind, self.name, params, payload)
        earlier = take_reply(scope, self.kind, key)
        if earlier is not None:
            return self._read(key, earlier.value)
        with JournaledCall(scope.journal, self.kind, key) as call:
            call.start(waits=True)
            reply = await self._ask_with_retries(payload, params, scope.meter, call)
            call.end(self._to_record(reply) | stored_usage(reply.usage) if key else None)
        return reply

    async def _ask_with_retries(
        self, payload: Sequence[Any], params: Mapping[str, object], meter: Meter, call: JournaledCall
    ) -> R:
        tries = Tries(self._retry, self._limiter)
        usage, max_usd, cut = _FREE, None, 0
        try:
            max_usd = await self._reserve(payload, params)
            reply = await tries.run(lambda: self._send(payload, params, call))
            usage = reply.usage
            return replace(reply, attempts=tries.sent)
        except asyncio.CancelledError:
            if tries.reply is not None:
                usage = tries.reply.usage
            elif tries.pending:
                cut = 1
            raise
        except MissingDependencyError as error:  # raised by every call before it is sent
            tries.sent = 0
            raise SystemContractError(str(error), always=True) from None
        finally:
            if tries.sent:
                calls = replace(calls_of(usage, attempts=tries.sent, spent_usd=usage.cost_usd), on_their_way=cut)
                call.charge(calls)
                meter.add(calls, self.kind)
            if self._budget is not None and max_usd is not None:
                self._budget.settle(max_usd, max_usd if cut or usage.cost_usd is None else usage.cost_usd)

    async def _send(self, payload: Sequence[Any], params: Mapping[str, object], call: JournaledCall) -> R:
        call.mark_sent()
        begun = perf_counter()
        try:
            with session_call():
                sent = self._start_request(payload, params)
                reply: Any = await sent if inspect.isawaitable(sent) else sent
        except Exception as raised:
            if not isinstance(raised, ModelError) and not is_of_http(raised):
                raise
            error = model_error(raised, self.name)
            if error.kind in ("auth", "not_found") and not self.succeeded:
                self.refused = self.refused or error
                self._limiter.close(self.refused)  # before the next call takes the slot of this request
            if error is raised:
                raise
            raise error from None
        self.succeeded = True
        if reply is sent or not self._is_reply(reply, payload):
            advice = f"return {self.RETURNS} from `async def {self.METHOD}`"
            raise SystemContractError(f"the model {self.name} returned {short_repr(reply)}; {advice}")
        valid_reply: R = reply
        if valid_reply.usage.fault:
            raise SystemContractError(f"the model {self.name} returned {describe_fault(valid_reply.usage)}")
        if valid_reply.usage.latency_s is not None:
            return valid_reply
        return replace(valid_reply, usage=replace(valid_reply.usage, latency_s=perf_counter() - begun))

    async def _reserve(self, payload: Sequence[Any], params: Mapping[str, object]) -> float:
        """Reserve and return the maximum cost of a call in US dollars; 0 without a budget."""
        if self._budget is None:
            return 0.0
        max_usd, assumed = self._max_cost(payload, params)
        if max_usd is None:
            raise ModelError("budget", no_price(self.name, self._setting, self.RATES), attempts=0)
        await self._budget.reserve(max_usd, assumed)
        return max_usd

    @property
    def _setting(self) -> str:
        """The ini setting of the params."""
        return f"rag_{self.kind}_params"

    def _replay(self, request: Request, response: Mapping[str, Any], meter: Meter) -> R:
        reply = self._read(request.key, response)
        meter.add(calls_of(reply.usage, replayed=1, spent_usd=0.0), self.kind)
        if self._cassettes is not None:
            meter.use(request.key, replayed=True)
        return reply

    def _read(self, key: str, response: Mapping[str, Any]) -> R:
        with readable(key, self.name):
            return self._from_record(response, usage_of(response, key, self.name))
