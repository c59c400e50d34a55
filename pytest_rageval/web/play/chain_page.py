"""The page of a chain: a card for each action, with its values, prompts and output."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pytest_rageval.datasets.fields import Fields
from pytest_rageval.errors import RagEvalError, message_with_code
from pytest_rageval.toml_files import parse_toml
from pytest_rageval.web.play.board import Board
from pytest_rageval.web.play.chain_draft import ChainDraft, action_values, edits_of
from pytest_rageval.web.play.page_answer import ShownPassage
from pytest_rageval.web.play.pages import PlayPages

__all__ = ["ChainPage"]


class ChainPage:
    """The page of a chain.

    Args:
        board: the edits of the chains.
        pages: renders pages with the state that every page shows.
    """

    def __init__(self, board: Board, pages: PlayPages) -> None:
        self._board = board
        self._project = board.project
        self._pages = pages

    def routes(self) -> Sequence[Route]:
        """Return the routes."""
        return [Route("/chain", self.chain)]

    async def chain(self, request: Request) -> Response:
        """Show a chain; if it does not parse, show its error with file and line."""
        names = self._project.chains
        name = request.query_params.get("chain", "") or next(iter(names), "")
        chain_draft = self._board.chains.get(name, ChainDraft())
        problem, actions, shown_name = "", list[dict[str, Any]](), name
        if self._project.ready:
            try:
                edits = edits_of(Fields("the edits", {"edits": [*chain_draft.edits]}), "edits")
                text = await asyncio.wrap_future(self._project.chain(name, ()))
                values = parse_toml(text.raw, text.chain.file_name)[1]
                actions = [_card(each, chain_draft, edits) for each in action_values(text.chain, values)]
                shown_name = text.chain.file_name
            except RagEvalError as error:
                problem = message_with_code(error)
        draft = self._board.draft
        return self._pages.page(
            "chain.html", names=dict.fromkeys((*([name] if name else ()), *names)), name=name, shown_name=shown_name,
            chain_draft=chain_draft, actions=actions, chain_problem=problem,
            question=chain_draft.question or draft.question,
        )  # fmt: skip


def _card(row: Mapping[str, Any], chain_draft: ChainDraft, edits: Sequence[Any]) -> dict[str, Any]:
    """Return the values of a card: the fields with their edited values, the output, and whether it is stale."""
    new_values = {(each.action, each.key, each.message): each.value for each in edits}
    fields = [
        {**each, "now": new_values.get((row["name"], each["key"], each["message"]), each["value"])}
        for each in row["fields"]
    ]
    output = chain_draft.outputs.get(row["name"])
    passages = [
        ShownPassage(each["id"], each["text"], each["title"], each["page"])
        for each in (output or {}).get("passages", ())
    ]
    return {
        **row,
        "fields": fields,
        "output": output,
        "passages": passages,
        "plain": json.dumps(output),
        "stale": row["name"] in chain_draft.stale,
    }
