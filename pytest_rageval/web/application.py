"""Build the ASGI application of a site: routes, assets, and one-sentence error responses."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Iterator
from functools import cache, partial
from importlib.resources import files

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from pytest_rageval.errors import RagEvalError, message_with_code
from pytest_rageval.importing import cause_text
from pytest_rageval.threads import Threads
from pytest_rageval.web.files import FileChangedError
from pytest_rageval.web.pages import Pages
from pytest_rageval.web.site import Site

__all__ = ["application"]

Endpoint = Callable[[Request], Awaitable[Response]]

REPORT = "pytest_rageval.report.html"
LAYOUT = "pytest_rageval.web"
SHARED_ASSETS = {
    "page.css": ((REPORT, "page.css"),),
    "site.css": ((LAYOUT, "assets/site.css"),),
    "site.js": ((REPORT, "script/texts.js"), (LAYOUT, "assets/site.js")),
}
"""Name of an asset that all sites have -> its files, as (package, path); their texts are joined."""

MEDIA = {"css": "text/css", "js": "text/javascript"}


def application(site: Site) -> Starlette:
    """Return the application of a site."""

    async def asset(request: Request) -> Response:
        return _asset(site.package, request.path_params["name"])

    handlers = dict.fromkeys((RagEvalError, OSError, HTTPException, Exception), _error_response)
    return Starlette(routes=[Route("/assets/{name}", asset), *_routes(site)], exception_handlers=handlers)


def _routes(site: Site) -> Iterator[BaseRoute]:
    """Yield the routes; a sync endpoint runs in a thread that does not delay the end of the process."""
    threads = Threads()
    for route in site.routes:
        if isinstance(route, Route) and inspect.isroutine(endpoint := route.endpoint):
            run = endpoint if inspect.iscoroutinefunction(endpoint) else _in_thread(threads, endpoint)
            yield Route(route.path, run, methods=list(route.methods or ()), name=route.name)
        else:
            yield route


def _in_thread(threads: Threads, endpoint: Callable[[Request], Response]) -> Endpoint:
    async def run(request: Request) -> Response:
        return await threads.run(partial(endpoint, request))

    return run


def _asset(package: str, name: str) -> Response:
    """Return a shared asset, or an asset of the site's package."""
    own_asset = ((package, f"assets/{name}"),) if package and re.fullmatch(r"\w+\.(?:css|js)", name) else ()
    text = _text(SHARED_ASSETS.get(name, own_asset))
    if not text:
        raise HTTPException(404)
    return Response(text, media_type=MEDIA[name.rpartition(".")[2]])


@cache
def _text(parts: tuple[tuple[str, str], ...]) -> str:
    """Return the joined text of files; empty if one is missing."""
    paths = [files(package).joinpath(path) for package, path in parts]
    return "\n".join(path.read_text(encoding="utf-8") for path in paths) if all(p.is_file() for p in paths) else ""


def _error_response(request: Request, error: Exception) -> Response:
    """Return the sentence of an error, as JSON for the API and as a page otherwise."""
    sentence, status = _sentence(request, error)
    if request.url.path.startswith("/api/"):
        problem, _, hint = sentence.partition("; ")
        return JSONResponse({"error": problem, "hint": hint}, status)
    return Pages(LAYOUT).page("failed.html", status=status, sentence=sentence)


def _sentence(request: Request, error: Exception) -> tuple[str, int]:
    """Return the sentence and the status of an error."""
    if isinstance(error, FileChangedError):
        return message_with_code(error), 409
    if isinstance(error, RagEvalError):
        return message_with_code(error), 400
    if isinstance(error, HTTPException):
        return f"{request.method} {request.url.path}: {error.detail}", error.status_code
    return cause_text(error), 500
