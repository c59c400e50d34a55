"""HTTP API of the page for its script, editors and tests: JSON in, JSON or events out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from pytest_rageval.errors import SettingError, UnknownNameError
from pytest_rageval.hooks.playing.orders import AskOrder
from pytest_rageval.model.codec import encode_calls
from pytest_rageval.threads import Threads
from pytest_rageval.web.play.ask_requests import ask_order
from pytest_rageval.web.play.board import Board, Question
from pytest_rageval.web.play.chain_api import ChainApi
from pytest_rageval.web.play.code_changes import CodeChanges
from pytest_rageval.web.play.passage_api import PassageApi
from pytest_rageval.web.play.save_api import SaveApi
from pytest_rageval.web.play.wait_for_project import wait_until_read
from pytest_rageval.web.requests import json_of

__all__ = ["Api", "draft_order"]


class Api:
    """The routes below ``/api/``.

    Args:
        board: the draft and the answers.
        code: detects changes of the project's code.
    """

    def __init__(self, board: Board, code: CodeChanges) -> None:
        self._board = board
        self._project = board.project
        self._code = code
        self._threads = Threads()

    def routes(self) -> Sequence[Route]:
        """Return the routes."""
        chains = ChainApi(self._board)
        return [
            *chains.routes(),
            Route("/api/state", self.state),
            Route("/api/ask", self.ask, methods=["POST"]),
            Route("/api/ask/{number}", self.cancel, methods=["DELETE"]),
            Route("/api/ask/{number}", self.follow),
            Route("/api/draft", self.draft, methods=["PUT"]),
            Route("/api/estimate", self.estimate, methods=["POST"]),
            *PassageApi(self._project).routes(),
            Route("/api/save", SaveApi(self._board, chains).save, methods=["POST"]),
        ]

    def state(self, _: Request) -> Response:
        """Respond with the state: whether the project is read, its systems, costs, the version of the draft."""
        return JSONResponse(self.values())

    def values(self) -> dict[str, Any]:
        """Return the state as JSON values."""
        project, board = self._project, self._board
        budget = project.budget
        return {
            "ready": project.ready,
            "problem": project.problem,
            "systems": list(project.systems),
            "cases": project.n_cases,
            "record_mode": project.record_mode,
            "budget": None if budget is None else {"limit_usd": budget[0], "left_usd": budget[1]},
            "calls": encode_calls(project.spent),
            "changed_code": self._code.first_changed_file(),
            "version": board.draft.version,
            "asking": [each.id for each in board.asking],
            "answers": [each.id for each in board.answers],
        }

    async def ask(self, request: Request) -> Response:
        """Ask a question, and stream its events.

        ``{"draft": true}`` asks the question of the draft; ``{"chat": true, ...}`` asks the next question of the
        conversation.
        """
        body = await json_of(request)
        await wait_until_read(self._project)
        chats, from_draft = body.pop("chat", False) is True, body == {"draft": True}
        if from_draft:
            draft = self._board.draft
            order, edited, before = draft_order(self._board), draft.changed, draft.before if draft.changed else ""
        else:
            order, before = ask_order(body), ""
            edited = order.passages is not None and not chats
        ask = partial(self._board.ask, order, edited=edited, before=before, chats=chats, from_draft=from_draft)
        return _events(await self._threads.run(ask))  # in a thread, because it may import a user's module

    async def follow(self, request: Request) -> Response:
        """Stream all events of a question in progress, from the first one."""
        number = request.path_params["number"]
        for question in self._board.asking:
            if question.id == number:
                return _events(question)
        raise UnknownNameError("question in progress", number, [each.id for each in self._board.asking])

    async def cancel(self, request: Request) -> Response:
        """Stop a question."""
        await self._threads.run(partial(self._board.cancel, request.path_params["number"]))
        return JSONResponse({"cancelled": request.path_params["number"]})

    async def draft(self, request: Request) -> Response:
        """Change the draft; ``version`` is the version of the draft that the page shows."""
        body = await json_of(request)
        if "version" not in body:
            raise SettingError("the request has no version of the draft; send the one of GET /api/state")
        draft = await self._threads.run(partial(self._board.change, body))
        return JSONResponse({"version": draft.version})

    async def estimate(self, request: Request) -> Response:
        """Estimate the model calls of a question without asking it; the body is that of ``/api/ask``."""
        order = ask_order(await json_of(request))
        await wait_until_read(self._project)
        estimates = await asyncio.wrap_future(await self._threads.run(partial(self._project.estimate, order)))
        plain = [
            {
                "what": each.what, "model": each.model, "calls": each.calls, "recorded": each.recorded,
                "exact": each.exact, "bounded": each.bounded, "cost_usd": each.cost_usd,
            }
            for each in estimates if each.calls != 0
        ]  # fmt: skip
        return JSONResponse({"calls": plain})


def draft_order(board: Board) -> AskOrder:
    """Return the order that asks the question of the draft."""
    draft = board.draft
    passages = draft.supplied if draft.changed else None
    return AskOrder(draft.system, draft.question, draft.case or None, passages)


def _events(question: Question) -> Response:
    async def stream() -> AsyncIterator[str]:
        async for event in question.log.follow():
            yield event.text

    return StreamingResponse(stream(), media_type="text/event-stream", headers={"X-Ask": question.id})
