"""HTTP routes: search the corpus, and find the smallest context that breaks a case."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from pytest_rageval.datasets.fields import Fields
from pytest_rageval.errors import SettingError
from pytest_rageval.generation.shrinking.shrink_result import ShrinkResult
from pytest_rageval.hooks.playing.project import PlayProject
from pytest_rageval.llm.secrets import redact_json
from pytest_rageval.report.terminal.shrunk_contexts import shrunk_lines
from pytest_rageval.web.play.stop_signals import StopSignals
from pytest_rageval.web.play.wait_for_project import wait_until_read
from pytest_rageval.web.requests import json_of

__all__ = ["PassageApi"]

WHERE = "the request"

MAX_RESULTS = 50
"""Maximum number of passages of a search."""


class PassageApi:
    """Finds passages, and masks secrets in them.

    Args:
        project: has the retriever, the cases and their systems.
    """

    def __init__(self, project: PlayProject) -> None:
        self._project = project
        self._stops = StopSignals()

    def routes(self) -> Sequence[Route]:
        """Return the routes."""
        return [
            Route("/api/search", self.search, methods=["POST"]),
            Route("/api/shrink", self.shrink, methods=["POST"]),
            Route("/api/shrink", self.stop, methods=["DELETE"]),
        ]

    async def search(self, request: Request) -> Response:
        """Search the project's passages: ``{query, k?}``."""
        fields = Fields(WHERE, await json_of(request))
        fields.only(("query", "k"))
        query, k = fields.text("query"), fields.count("k", 1) or 5
        await wait_until_read(self._project)
        ranking = await asyncio.wrap_future(self._project.search(query, min(k, MAX_RESULTS)))
        passages = [
            {"id": each.doc_id, "title": each.title, "text": each.text, "page": each.page, "score": each.score}
            for each in ranking
        ]
        return JSONResponse(redact_json({"passages": passages}))

    async def shrink(self, request: Request) -> Response:
        """Search the smallest context that breaks a case, ``{case}``; the response has its passages."""
        fields = Fields(WHERE, await json_of(request))
        fields.only(("case",))
        name = fields.text("case")
        await wait_until_read(self._project)
        with self._stops.running(self._project.case(name)[0], f"the search for {name}") as stop:
            shrunk = await asyncio.wrap_future(self._project.shrink(name, stop))
        if isinstance(shrunk, str):
            raise SettingError(f"not shrunk: {redact_json(shrunk)}")
        return JSONResponse(_plain(name, shrunk))

    async def stop(self, request: Request) -> Response:
        """Stop the search of a case, which then returns its best result; ``case`` in the query names the case."""
        name = request.query_params.get("case", "")
        await wait_until_read(self._project)
        self._stops.stop(self._project.case(name)[0], f"the search for {name}")
        return JSONResponse({"cancelled": name})


def _plain(name: str, shrunk: ShrinkResult) -> dict[str, Any]:
    """Return a smallest context as JSON values, with secrets masked."""
    passages = [each.passage for each in shrunk.context]
    records = [{"id": each.id, "title": each.title, "text": each.text, "role": each.role} for each in passages]
    lines = [line.strip() for line in shrunk_lines({name: shrunk}, texts=True)][1:]
    masked: dict[str, Any] = redact_json({"lines": lines, "passages": records})
    return masked
