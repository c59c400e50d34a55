"""A site as an ASGI application: its routes, its assets, and errors as one sentence."""

from __future__ import annotations

import mimetypes
from importlib.resources import files

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from pytest_rageval.errors import RagEvalError, coded
from pytest_rageval.importing import cause_text
from pytest_rageval.web.pages import Pages
from pytest_rageval.web.site import Site

__all__ = ["application"]

STYLE = ("pytest_rageval.report.html", "page.css")
PAGES = Pages(__package__)


def application(site: Site) -> Starlette:
    """Return the application of a site."""

    async def asset(request: Request) -> Response:
        return _asset(site, request.path_params["name"])

    return Starlette(
        routes=[Route("/assets/{name}", asset), *site.routes],
        exception_handlers={
            RagEvalError: _failed,
            OSError: _failed,
            HTTPException: _failed,
            Exception: _failed,
        },
    )


def _asset(site: Site, name: str) -> Response:
    """Return a file of the layout or of the page's package."""
    places = [STYLE, (__package__, f"assets/{name}"), (site.package, f"assets/{name}")]
    for package, path in places[:1] if name == "page.css" else places[1:]:
        if package and (found := files(package).joinpath(path)).is_file():
            return Response(found.read_bytes(), media_type=mimetypes.guess_type(name)[0])
    raise HTTPException(404)


def _failed(request: Request, error: Exception) -> Response:
    sentence, status = _said(request, error)
    if request.url.path.startswith("/api/"):
        return JSONResponse({"error": sentence, "hint": ""}, status)
    return PAGES.page("failed.html", status=status, sentence=sentence)


def _said(request: Request, error: Exception) -> tuple[str, int]:
    """Return the sentence and the status of an error."""
    if isinstance(error, RagEvalError):
        return coded(error), 400
    if isinstance(error, HTTPException):
        return f"{request.method} {request.url.path}: {error.detail}", error.status_code
    return cause_text(error), 500
