"""One HTTP request to a listed host and its reply: replayed, or sent and recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from time import time
from types import TracebackType
from typing import TYPE_CHECKING, Any

from pytest_rageval.errors import ModelError, RagEvalError
from pytest_rageval.llm.client.running_cases import note_refused_request
from pytest_rageval.llm.client.usage_meter import RefusedCallError, Scope
from pytest_rageval.llm.http.completion_step import completion_step
from pytest_rageval.llm.http.http_messages import HttpReply, HttpRequest
from pytest_rageval.llm.http.in_flight import InFlight
from pytest_rageval.llm.http.model_usage import ModelReply, is_complete, model_call_of, reply_to
from pytest_rageval.llm.http.request_identity import request_of
from pytest_rageval.llm.http.spending import Spending
from pytest_rageval.llm.http.stored_reply import is_recordable, plain_body, reply_of, to_record
from pytest_rageval.llm.recordings.request import Request
from pytest_rageval.model.calls import Calls
from pytest_rageval.trace.collector import Collector

if TYPE_CHECKING:
    from pytest_rageval.llm.recordings.cassettes import Cassettes

__all__ = ["Exchange"]

POLL_S = 0.002
"""Seconds between two checks for the reply to an identical request."""

_WITHOUT_BODY = (204, 304)


class Exchange:
    """A request of the running case and its reply.

    A transport (the wrapper of an HTTP library) first iterates over `waits`. If there is a ``reply`` then, it returns
    that. Otherwise it sends the request inside a ``with`` block, and calls `is_stream`. If the body is not a stream, it
    calls `end`; for a stream it calls `stream`, `feed` for each chunk, and `end_stream` or `fail_stream`.

    Attributes:
        reply: the recorded reply; None if the request must be sent.
        has_case: whether the case that sends the request is known.
    """

    def __init__(
        self,
        http_request: HttpRequest,
        host: str,
        scope: Scope,
        collector: Collector | None,
        cassettes: Cassettes | None,
        spending: Spending,
        in_flight: InFlight,
    ) -> None:
        self.reply: HttpReply | None = None
        self.has_case = True
        self._http_request = http_request
        self._host = host
        self._scope = scope
        self._cassettes = cassettes
        self._spending = spending
        self._in_flight = in_flight
        self._model_call = model_call_of(http_request)
        self._collector = collector
        self._request = None if cassettes is None else request_of(http_request, host, scope.repeat)
        self._start = time()
        self._reserved: float | None = None
        self._is_claimed = self._is_done = False
        self._head: HttpReply | None = None
        self._chunks: list[bytes] = []

    def waits(self, *, may_wait: bool = True) -> Iterator[float]:
        """Yield seconds to sleep until there is a reply, or the request may be sent.

        If ``may_wait`` is False, never wait, because the caller blocks the event loop that other requests need.

        Raises:
            RefusedCallError: the mode forbids a request that is not recorded, or the budget is spent.
        """
        try:
            yield from self._find(may_wait)
            if self.reply is None:
                self._reserved = yield from self._spending.reserve(self._model_call, self._host, may_wait=may_wait)
        except RagEvalError as error:
            self._unclaim()
            self._scope.meter.refuse(error)
            if not self.has_case:
                note_refused_request(error)
            raise RefusedCallError(error) from None
        except BaseException:
            self._unclaim()
            raise

    def __enter__(self) -> Exchange:
        self._start = time()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:  # the provider may bill a cancelled request, but hardly a failed one
            self._fail(cut=self._head is not None or not isinstance(error, Exception))

    def is_stream(self, status: int, headers: Mapping[str, str]) -> bool:
        """Store status and headers of a reply; return whether to stream its body (False for JSON and errors)."""
        head = self._head = HttpReply(status, {name.lower(): value for name, value in headers.items()})
        is_short = status >= 400 or status in _WITHOUT_BODY or self._http_request.method == "HEAD"
        return not (is_short or head.is_json)

    def end(self, body: bytes) -> None:
        """Charge and record a reply with its whole body."""
        if self._head is not None and not self._is_done:
            self._finish(HttpReply(self._head.status, self._head.headers, (body,)), whole=True)

    def stream(self) -> None:
        """Begin a stream: identical requests no longer wait for this one."""
        self._unclaim()

    def feed(self, chunk: bytes) -> bytes:
        """Store a chunk of the stream, and return it."""
        self._chunks.append(chunk)
        return chunk

    def end_stream(self, *, ended: bool) -> None:
        """Charge and record a stream. ``ended``: whether the server ended it; else the client stopped reading."""
        if self._head is None or self._is_done:
            return
        reply = HttpReply(self._head.status, self._head.headers, tuple(self._chunks))
        self._finish(reply, whole=is_complete(self._model_call, _readable(reply), ended=ended))

    def fail_stream(self) -> None:
        """Charge a stream that failed."""
        self._fail(cut=True)

    def _fail(self, *, cut: bool) -> None:
        """Charge a request without a whole reply; its cost is unknown if it was ``cut``."""
        if self._is_done:
            return
        self._is_done = True
        if self._model_call is not None:
            self._charge(Calls(1, 0, 1, on_their_way=1) if cut else Calls(attempts=1))
        self._settle(None if cut else 0.0)
        self._unclaim()

    def _find(self, may_wait: bool) -> Iterator[float]:
        """Find the recorded reply; wait for an identical request in flight."""
        request, cassettes = self._request, self._cassettes
        if request is None or cassettes is None:
            return
        while True:
            response = cassettes.find(request)
            if response is not None:
                self._unclaim()
                self._replay(request, response)
                return
            if self._is_claimed or not may_wait:
                return
            self._is_claimed = self._in_flight.claim(request.key)
            if not self._is_claimed:  # after a claim, check again: the reply may have come in the meantime
                yield POLL_S

    def _replay(self, request: Request, response: Mapping[str, Any]) -> None:
        try:
            self.reply = reply_of(response)
            cost = None if self._model_call is None else response["cost_usd"]
        except (KeyError, TypeError, ValueError) as error:
            problem = f"the recording {request.key} of {self._host} has no {error}; delete it and record it again"
            raise ModelError("malformed_response", problem, attempts=0) from None
        self._scope.meter.use(request.key, replayed=True)
        if self._model_call is not None:
            model_reply = reply_to(self._model_call, self.reply.body)
            self._charge(Calls(1, 1, 0, model_reply.prompt_tokens, model_reply.completion_tokens, cost, 0.0))
            self._trace(model_reply, cost, replayed=True)

    def _finish(self, reply: HttpReply, *, whole: bool) -> None:
        """Charge, trace and record a reply."""
        self._is_done = True
        model_reply = None if self._model_call is None else reply_to(self._model_call, _readable(reply))
        failed = model_reply is not None and model_reply.failed
        is_answer = whole and not failed and is_recordable(self._http_request, reply.status)
        cost = self._spend(model_reply, failed=reply.status >= 400, whole=whole)
        try:
            request, cassettes = self._request, self._cassettes
            if is_answer and request is not None and cassettes is not None:
                if cassettes.find(request) is None:  # otherwise an identical stream was faster
                    stored = to_record(reply, of_model=model_reply is not None)
                    cassettes.record(request, stored | ({} if model_reply is None else {"cost_usd": cost}))
                self._scope.meter.use(request.key)
        finally:
            self._unclaim()

    def _spend(self, model_reply: ModelReply | None, *, failed: bool, whole: bool) -> float | None:
        """Charge the case and the budget; return the cost."""
        if model_reply is None or self._model_call is None:
            return None
        if failed or (whole and model_reply.failed):
            self._charge(Calls(attempts=1))
            self._settle(0.0)
            return None
        if not whole:  # the token counts cover only the beginning
            self._charge(Calls(1, 0, 1, on_their_way=1))
            self._settle(None)
            return None
        cost = self._spending.prices.cost(self._model_call, model_reply, self._host)
        self._settle(cost)
        self._charge(Calls(1, 0, 1, model_reply.prompt_tokens, model_reply.completion_tokens, cost, cost))
        self._trace(model_reply, cost, replayed=False)
        return cost

    def _charge(self, calls: Calls) -> None:
        is_embedding = self._model_call is not None and self._model_call.is_embedding
        self._scope.meter.add(calls, "embedding" if is_embedding else "model")

    def _settle(self, cost: float | None) -> None:
        reserved, self._reserved = self._reserved, None
        self._spending.settle(reserved, cost)

    def _trace(self, model_reply: ModelReply, cost: float | None, *, replayed: bool) -> None:
        if self._collector is not None and self._model_call is not None and not self._model_call.is_embedding:
            self._collector.add(completion_step(self._model_call, model_reply, cost, self._start, replayed=replayed))

    def _unclaim(self) -> None:
        if self._is_claimed and self._request is not None:
            self._is_claimed = False
            self._in_flight.release(self._request.key)


def _readable(reply: HttpReply) -> bytes:
    """Return a body decompressed, or unchanged if that fails."""
    body = plain_body(reply)
    return reply.body if body is None else body
