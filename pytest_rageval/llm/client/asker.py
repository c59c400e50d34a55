"""A backend as the session asks it, whatever it is asked for: replayed or asked, within limits, recorded, charged."""

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

from pytest_rageval.errors import MissingDependencyError, ModelError, SettingError, SystemContractError, found
from pytest_rageval.llm.backends.faults import is_of_http, model_error, no_price
from pytest_rageval.llm.client.journal import JournaledCall
from pytest_rageval.llm.client.rate_limiter import Limiter
from pytest_rageval.llm.client.replies import calls_of, readable, reply_key, stored_usage, take_reply, usage_of
from pytest_rageval.llm.client.retry import RetryPolicy, Tries
from pytest_rageval.llm.client.usage_meter import Meter, Scope, current, faulty
from pytest_rageval.llm.recordings.request import Request
from pytest_rageval.model.answer import Usage
from pytest_rageval.model.chat import Completion, Embeddings, Message

if TYPE_CHECKING:
    from pytest_rageval.llm.budget import Budget
    from pytest_rageval.llm.client.reply_cache import Kept
    from pytest_rageval.llm.recordings.cassettes import Cassettes

__all__ = ["Asker", "Home"]

B = TypeVar("B")
R = TypeVar("R", Completion, Embeddings)

Home = Callable[[Callable[[], Awaitable[Any]]], Awaitable[Any]]
"""Awaits what a function returns, on a certain event loop."""

_NO_PARAMS: Mapping[str, object] = MappingProxyType({})
_FREE = Usage(0, 0, 0.0)


class Asker(ABC, Generic[B, R]):
    """What answers from a recording, else asks its backend, and charges the scope it is called in.

    A call counts once, with all the requests it sent. What it cost is what its reply cost: requests that failed are
    not billed as a rule, and count as no tokens and no cost. Of a call that is cancelled while a request is in flight
    the cost is unknown, and the budget counts the most it may have been. Of identical calls that are to be recorded
    or kept one is asked, and the others replay its reply.

    Args:
        backend: is asked, once for each request; where it has ``aclose()``, that is awaited at the end.
        name: of the model, as recordings and messages call it.
        kind: of its calls, as recordings call it; the class has one where none is given.
        params: go with every call, unless the call has its own of that name.
        limiter: how many requests are in flight.
        retry: how long a call is tried.
        cassettes: the recordings; None always asks.
        kept: where replies are kept that are not to be recorded; None asks for each.
        budget: what may be spent; None is no limit.
        most: the most that a call may cost in US dollars, from its messages and its params, in which ``max_tokens``
            always is, `UNSAID` where nobody says it; None where that is unknown. Needed under a budget.
        outside: what is charged with calls on nobody's behalf; None forgets them.
        home: awaits what is asked on the one event loop that limiter, budget and connections live on, whichever loop
            a call is made on; None leaves it to the caller to make all calls on one.

    Attributes:
        succeeded: whether the backend has ever replied.
        refused: the first refusal (``auth``, ``not_found``), if the backend had not replied before; from then on every
            call is refused like that, and none is sent.
    """

    KIND: ClassVar[str]
    METHOD: ClassVar[str]
    """The backend's method, with its arguments."""
    RETURNS: ClassVar[str]
    RATES: ClassVar[str]
    """The params that price a call."""

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
        kept: Kept | None = None,
        budget: Budget | None = None,
        most: Callable[[Sequence[Message], Mapping[str, object]], float | None] | None = None,
        outside: Meter | None = None,
        home: Home | None = None,
    ) -> None:
        self.name = name
        self.kind = kind or self.KIND
        self.succeeded = False
        self.refused: ModelError | None = None
        self._backend = backend
        self._params = dict(params)
        self._limiter = limiter
        self._retry = retry
        self._cassettes = cassettes
        self._kept = cassettes or kept
        self._budget = budget
        self._most = most
        self._home = home
        self._outside = outside
        self._in_flight: dict[str, asyncio.Future[bool]] = {}  # by key, only touched at home

    def __getattr__(self, name: str) -> Any:
        """Return what else the backend has: a test may look at what its own model was asked."""
        if name == "_backend":  # as when it is copied, before it has one
            raise AttributeError(name)
        return getattr(self._backend, name)

    def replays(self, asked: Sequence[Any], repeat: int = 1) -> bool:
        """Return whether a recording would answer this repetition, so that the backend is not asked."""
        if self._cassettes is None:
            return False
        return self._cassettes.holds(Request(self.kind, self.name, self._params, asked, repeat))

    async def close(self) -> None:
        """Let the backend's connections go."""
        close = getattr(self._backend, "aclose", None)
        if close is not None:
            await close()

    @abstractmethod
    def _sent(self, asked: Sequence[Any], params: Mapping[str, object]) -> object:
        """Send one request: return what the backend's method returns, to be awaited."""

    @abstractmethod
    def _is_reply(self, reply: object, asked: Sequence[Any]) -> bool:
        """Return whether a reply is what the backend's contract says."""

    @abstractmethod
    def _recorded(self, reply: R) -> dict[str, Any]:
        """Return what is recorded of a reply besides its tokens and its price."""

    @abstractmethod
    def _replayed(self, response: Mapping[str, Any], usage: Usage) -> R:
        """Return the reply that was recorded; a `KeyError` is what the recording lacks."""

    @abstractmethod
    def _priced(self, asked: Sequence[Any], params: Mapping[str, object]) -> tuple[float | None, str]:
        """Return the most that a call may cost, and what had to be assumed for that, "" for nothing."""

    async def _reply(self, asked: Sequence[Any], params: Mapping[str, object]) -> R:
        """Return the reply: replayed, or asked for and recorded.

        Raises `ModelError` when there is none; what else the backend raises goes through.
        """
        scope = current(self._outside)
        merged = {**self._params, **params}
        ask = partial(self._ask, asked, merged, scope)
        if self._kept is None:
            return await self._at_home(ask)
        try:
            request = Request(self.kind, self.name, merged, asked, scope.repeat)
        except SettingError:
            if self._cassettes is None:  # what cannot be written down can be asked
                return await self._at_home(ask)
            raise
        response = self._kept.find(request)
        if response is not None:
            return self._replay(request, response, scope.meter)
        return await self._at_home(partial(self._ask_once, request, ask, self._kept, scope.meter))

    async def _at_home(self, ask: Callable[[], Awaitable[R]]) -> R:
        if self._home is None:
            return await ask()
        reply: R = await self._home(ask)
        return reply

    async def _ask_once(
        self, request: Request, ask: Callable[[], Awaitable[R]], kept: Cassettes | Kept, meter: Meter
    ) -> R:
        """Return the reply, asked for and recorded, or replayed when an identical call in flight has brought one.

        Who waited for a call that failed asks for itself; of those who waited for a cancelled one, one does.
        """
        first_failed = failed = False
        while not first_failed and (first := self._in_flight.get(request.key)) is not None:
            first_failed = await asyncio.shield(first)
        response = kept.find(request)
        if response is not None:
            return self._replay(request, response, meter)
        ended = self._in_flight[request.key] = asyncio.get_running_loop().create_future()
        try:
            reply = await ask()
            response = kept.find(request)
            if response is None:
                kept.record(request, self._recorded(reply) | stored_usage(reply.usage))
            else:  # others who had waited with this one were quicker
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

    async def _ask(self, asked: Sequence[Any], params: Mapping[str, object], scope: Scope) -> R:
        """Return the reply, asked for, unless an earlier run was given it."""
        if getattr(self._backend, "computes_here", False):  # asking again costs nothing
            scope = replace(scope, journal=None)
        key = reply_key(scope, self.kind, self.name, params, asked)
        earlier = take_reply(scope, self.kind, key)
        if earlier is not None:
            return self._read(key, earlier.value)
        with JournaledCall(scope.journal, self.kind, key) as call:
            call.start(waits=True)
            reply = await self._tried(asked, params, scope.meter, call)
            call.end(self._recorded(reply) | stored_usage(reply.usage) if key else None)
        return reply

    async def _tried(self, asked: Sequence[Any], params: Mapping[str, object], meter: Meter, call: JournaledCall) -> R:
        tries = Tries(self._retry, self._limiter)
        usage, most_usd, cut = _FREE, None, 0
        try:
            most_usd = await self._reserve(asked, params)
            reply = await tries.run(lambda: self._send(asked, params, call))
            usage = reply.usage
            return replace(reply, attempts=tries.sent)
        except asyncio.CancelledError:
            if tries.reply is not None:
                usage = tries.reply.usage
            elif tries.pending:
                cut = 1
            raise
        except MissingDependencyError as error:  # of every call, and before it is sent
            tries.sent = 0
            raise SystemContractError(str(error), always=True) from None
        finally:
            if tries.sent:
                calls = replace(calls_of(usage, attempts=tries.sent, spent_usd=usage.cost_usd), on_their_way=cut)
                call.charge(calls)
                meter.add(calls, self.kind)
            if self._budget is not None and most_usd is not None:
                self._budget.settle(most_usd, most_usd if cut or usage.cost_usd is None else usage.cost_usd)

    async def _send(self, asked: Sequence[Any], params: Mapping[str, object], call: JournaledCall) -> R:
        call.sent()
        begun = perf_counter()
        try:
            sent = self._sent(asked, params)
            reply: Any = await sent if inspect.isawaitable(sent) else sent
        except Exception as raised:
            if not isinstance(raised, ModelError) and not is_of_http(raised):
                raise
            error = model_error(raised, self.name)
            if error.kind in ("auth", "not_found") and not self.succeeded:
                self.refused = self.refused or error
                self._limiter.close(self.refused)  # before the slot of this request goes to the next
            if error is raised:
                raise
            raise error from None
        self.succeeded = True
        if reply is sent or not self._is_reply(reply, asked):
            wanted = f"return {self.RETURNS} from `async def {self.METHOD}`"
            raise SystemContractError(f"the model {self.name} returned {found(reply)}; {wanted}")
        given: R = reply
        if given.usage.fault:
            raise SystemContractError(f"the model {self.name} returned {faulty(given.usage)}")
        if given.usage.latency_s is not None:
            return given
        return replace(given, usage=replace(given.usage, latency_s=perf_counter() - begun))

    async def _reserve(self, asked: Sequence[Any], params: Mapping[str, object]) -> float:
        """Set aside and return the most that a call may cost in US dollars, 0 without a budget."""
        if self._budget is None:
            return 0.0
        most_usd, assumed = self._priced(asked, params)
        if most_usd is None:
            raise ModelError("budget", no_price(self.name, self._setting, self.RATES), attempts=0)
        await self._budget.reserve(most_usd, assumed)
        return most_usd

    @property
    def _setting(self) -> str:
        """The setting of the ini that has the params."""
        return f"rag_{self.kind}_params"

    def _replay(self, request: Request, response: Mapping[str, Any], meter: Meter) -> R:
        reply = self._read(request.key, response)
        meter.add(calls_of(reply.usage, replayed=1, spent_usd=0.0), self.kind)
        if self._cassettes is not None:
            meter.use(request.key, replayed=True)
        return reply

    def _read(self, key: str, response: Mapping[str, Any]) -> R:
        with readable(key, self.name):
            return self._replayed(response, usage_of(response, key, self.name))
