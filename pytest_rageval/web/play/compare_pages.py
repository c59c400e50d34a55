"""Show the pages "Two systems" and "Chat"."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pytest_rageval.hooks.playing.saved_files import NEW
from pytest_rageval.web.play.answer_view import LONGEST, answer_view, one_line
from pytest_rageval.web.play.board import Board
from pytest_rageval.web.play.page_answer import PageAnswer
from pytest_rageval.web.play.pages import PlayPages

__all__ = ["ComparePages"]

FIXTURE = "rag_system"
"""The name of the system that the fixture provides; ``--rag-system`` does not accept it."""


class ComparePages:
    """The pages that ask two systems one question, or hold a conversation with one system.

    Args:
        board: the draft and the answers.
        pages: renders pages with the state that every page shows.
    """

    def __init__(self, board: Board, pages: PlayPages) -> None:
        self._board = board
        self._project = board.project
        self._pages = pages

    def routes(self) -> Sequence[Route]:
        """Return the routes."""
        return [Route("/two", self.two), Route("/chat", self.chat)]

    def two(self, request: Request) -> Response:
        """Show two answers side by side; ``left`` and ``right`` in the query are their numbers."""
        answers = {each.id: each for each in self._board.answers}
        left, right = (answers.get(request.query_params.get(side, "")) for side in ("left", "right"))
        systems = (*self._project.systems, "", "")
        names = [each.system if each else systems[at] for at, each in enumerate((left, right))]
        return self._pages.page(
            "two.html",
            draft=self._board.draft,
            names=names,
            left=answer_view(left) if left else None,
            right=answer_view(right, left) if right and left else None,
            command=_command(left, right),
        )

    def chat(self, _: Request) -> Response:
        """Show the conversation."""
        draft = self._board.draft
        earlier, last = draft.chat[:-1], draft.chat[-1] if draft.chat else None
        record: dict[str, Any] = {} if last is None else {"question": last.question}
        if earlier:
            record["history"] = [{"question": turn.question, "answer": turn.answer} for turn in earlier]
        answers = [each for each in self._board.answers if last and each.question == last.question]
        return self._pages.page(
            "chat.html",
            draft=draft,
            record=json.dumps(record),
            last=last,
            right=one_line(last.answer) if last and len(last.answer) <= LONGEST else "",
            answer=answers[-1].id if answers else "",
            file=draft.file or NEW,
        )


def _command(left: PageAnswer | None, right: PageAnswer | None) -> str:
    """Return the pytest command that compares the systems over all cases."""
    systems = [each.system for each in (left, right) if each is not None and each.system != FIXTURE] or ["A", "B"]
    case = next((each.case for each in (left, right) if each is not None and each.case), "")
    options = [word for system in systems for word in ("--rag-system", system)]
    return shlex.join(["pytest", *filter(None, [case.partition("[")[0]]), *options])
