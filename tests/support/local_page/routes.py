"""Routes of the local page for tests."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from pytest_rageval.errors import SettingError
from pytest_rageval.web.files import FileChangedError
from pytest_rageval.web.pages import Pages
from pytest_rageval.web.requests import form_of, json_of
from pytest_rageval.web.text_fields import text_of_field

__all__ = ["HOSTILE", "ROUTES"]

HOSTILE = "<script>document.title = 'taken'</script> \"quoted\" {{ 7 * 7 }} a\u202eb c\x00d \ud800 e\u200bf\r\n中文"
PAGES = Pages("support.local_page")
RECEIVED: list[str] = []

FAILURES = {
    "setting": SettingError("rag_model 'x' is unknown; name a model"),
    "changed": FileChangedError("cases.jsonl", "it changed"),
    "missing": FileNotFoundError(2, "No such file or directory", "gone.jsonl"),
    "fault": KeyError("fault\u202e"),
}


def home(_: Request) -> Response:
    return PAGES.page("home.html", hostile=HOSTILE, received=RECEIVED)


async def keep(request: Request) -> Response:
    RECEIVED.extend(map(text_of_field, (await form_of(request))["text"]))
    return RedirectResponse("/", 303)


async def echo(request: Request) -> Response:
    return JSONResponse(await json_of(request))


async def fail(request: Request) -> Response:
    raise FAILURES[request.path_params["how"]]


async def events(_: Request) -> Response:
    async def stream() -> AsyncIterator[str]:
        while True:
            yield "data: {}\n\n"
            await asyncio.sleep(0.05)

    return StreamingResponse(stream(), media_type="text/event-stream")


def hang(_: Request) -> Response:
    time.sleep(30)
    return Response()


ROUTES = (
    Route("/", home),
    Route("/keep", keep, methods=["POST"]),
    Route("/fail/{how}", fail),
    Route("/api/fail/{how}", fail, methods=["GET", "POST"]),
    Route("/api/echo", echo, methods=["POST"]),
    Route("/api/events", events),
    Route("/api/hang", hang),
)
