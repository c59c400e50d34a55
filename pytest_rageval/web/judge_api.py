"""ASGI application that serves a judge over OpenAI's chat protocol."""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from pytest_rageval.errors import RagEvalError, ascii_safe, short_repr
from pytest_rageval.importing import cause_text
from pytest_rageval.model.chat import Message
from pytest_rageval.model.stored_json import parse_json
from pytest_rageval.threads import Threads
from pytest_rageval.web.guard import LOCAL

__all__ = ["LARGEST_BODY", "ServedJudge", "judge_api"]

LARGEST_BODY = 8 * 2**20
"""Maximum size of a request in bytes."""

LARGEST_TEXT = 2**20
"""Maximum number of characters of one message."""


@dataclass(frozen=True, slots=True)
class ServedJudge:
    """A judge that answers chats.

    Attributes:
        name: the model name in requests, which is the name of the metric.
        digest: identifies the judge file.
        reply: returns the reply to messages; raises `RagEvalError` for messages that it cannot judge.
        token: the token that requests carry; "" if none is needed.
    """

    name: str
    digest: str
    reply: Callable[[Sequence[Message]], str]
    token: str = ""


def judge_api(judge: ServedJudge) -> Starlette:
    """Return the application of a judge: ``/v1/chat/completions``, ``/v1/models`` and ``/healthz``.

    It serves programs on this machine only: it refuses requests for another host and requests from browser pages.
    Errors have the format of OpenAI, with one sentence as message.
    """
    threads, started = Threads(), int(time.time())
    model = {"id": judge.name, "object": "model", "created": started, "owned_by": "rageval"}

    async def complete(request: Request) -> Response:
        _check(request, judge)
        messages = _messages_of(await _body_of(request), judge)
        text = await threads.run(partial(judge.reply, messages))
        return JSONResponse(_completion(judge, text))

    async def models(request: Request) -> Response:
        _check(request, judge)
        return JSONResponse({"object": "list", "data": [model]})

    async def health(request: Request) -> Response:
        _check_origin(request)
        return JSONResponse({"status": "ok", "judge": judge.name, "digest": judge.digest})

    routes = [
        Route("/v1/chat/completions", complete, methods=["POST"]),
        Route("/v1/models", models),
        Route("/healthz", health),
    ]
    handlers: dict[Any, Any] = dict.fromkeys((RagEvalError, HTTPException, Exception), _error_response)
    return Starlette(routes=routes, exception_handlers=handlers)


def _check(request: Request, judge: ServedJudge) -> None:
    """Raise `HTTPException` for a request that is not allowed."""
    _check_origin(request)
    authorization = request.headers.get("authorization", "")
    if judge.token and not hmac.compare_digest(authorization.encode(), f"Bearer {judge.token}".encode()):
        raise HTTPException(401, "the request lacks the token; send it as Authorization: Bearer TOKEN")


def _check_origin(request: Request) -> None:
    """Raise `HTTPException` for a request for another host or from a browser page."""
    headers = request.headers
    try:
        host = urlsplit(f"//{headers.get('host', '')}").hostname
    except ValueError:
        host = None
    if host not in LOCAL:
        raise HTTPException(403, "the request names another host than this machine")
    if "origin" in headers or headers.get("sec-fetch-site", "none") != "none":
        raise HTTPException(403, "the request comes from a browser page; only programs may send requests")


async def _body_of(request: Request) -> Mapping[str, Any]:
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        parts.append(part)
        size += len(part)
        if size > LARGEST_BODY:
            raise HTTPException(413, f"the request is larger than {LARGEST_BODY:,} bytes")
    try:
        body = parse_json(b"".join(parts), finite=True)
    except ValueError:
        raise HTTPException(400, "the body is not valid JSON") from None
    if not isinstance(body, dict):
        raise HTTPException(400, "the body is not a JSON object")
    return body


def _messages_of(body: Mapping[str, Any], judge: ServedJudge) -> list[Message]:
    """Return the messages of a request; raise `HTTPException` for one that a judge cannot answer."""
    if body.get("model") != judge.name:
        raise HTTPException(400, f"the model is {short_repr(body.get('model'))}; this server has {judge.name}")
    if body.get("stream"):
        raise HTTPException(400, "a judge's reply is not streamed; leave out stream")
    if body.get("n", 1) not in (1, None):
        raise HTTPException(400, "a judge gives one reply; leave out n")
    messages = body.get("messages")
    if not isinstance(messages, list) or not all(isinstance(each, dict) for each in messages):
        raise HTTPException(400, "messages is not a list of messages")
    if any(len(str(each.get("content") or "")) > LARGEST_TEXT for each in messages):
        raise HTTPException(400, f"a message is longer than {LARGEST_TEXT:,} characters")
    return messages


def _completion(judge: ServedJudge, text: str) -> dict[str, Any]:
    return {
        "id": f"judge-{time.time_ns():x}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": judge.name,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    }


def _error_response(request: Request, error: Exception) -> Response:
    status, sentence = 500, cause_text(error)
    if isinstance(error, HTTPException):
        status, sentence = error.status_code, error.detail
    elif isinstance(error, (RagEvalError, ClientDisconnect)):
        status, sentence = 400, str(error)
    kind = "server_error" if status >= 500 else "invalid_request_error"
    return JSONResponse({"error": {"message": ascii_safe(sentence), "type": kind, "code": None}}, status)
