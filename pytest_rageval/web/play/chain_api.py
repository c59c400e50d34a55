"""HTTP routes of chains: run one action, store unsaved edits, save the file."""

from __future__ import annotations

import asyncio
import difflib
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from pytest_rageval.datasets.fields import Fields
from pytest_rageval.errors import SettingError
from pytest_rageval.hooks.playing.chain_actions import ActionOrder, ChainText
from pytest_rageval.hooks.playing.orders import AskOrder
from pytest_rageval.llm.secrets import redact_json
from pytest_rageval.model.answer import Step
from pytest_rageval.model.codec import encode_calls
from pytest_rageval.model.derived_codec import encoder
from pytest_rageval.trace.collector import Event
from pytest_rageval.web.files import FileChangedError, inside, read_snapshot, write_file
from pytest_rageval.web.play.board import Board
from pytest_rageval.web.play.chain_draft import ChainDraft, change_chain_draft, edits_of, output_of
from pytest_rageval.web.play.stop_signals import StopSignals
from pytest_rageval.web.requests import json_of

__all__ = ["ChainApi"]

WHERE = "the request"


class ChainApi:
    """Runs actions and saves chains.

    Args:
        board: the draft and the answers.
    """

    def __init__(self, board: Board) -> None:
        self._board = board
        self._project = board.project
        self._stops = StopSignals()

    def routes(self) -> Sequence[Route]:
        """Return the routes."""
        return [
            Route("/api/action", self.action, methods=["POST"]),
            Route("/api/action/{name}", self.cancel, methods=["DELETE"]),
            Route("/api/chain", self.store_edits, methods=["PUT"]),
        ]

    async def action(self, request: Request) -> Response:
        """Run one action: ``{chain, name, outputs?, edits?, question | case, prompts_only?}``.

        The response has ``output`` in the format of ``outputs``, ``steps``, ``calls``, and ``error`` if the action
        failed. With ``prompts_only`` no model is called, and the response has ``texts``, pairs of a label and a text.
        """
        fields = Fields(WHERE, await json_of(request)).without_nulls()
        fields.only(("chain", "name", "outputs", "edits", "question", "case", "prompts_only", "draft"))
        chain, name = fields.text("chain"), fields.text("name")
        outputs = fields.values.get("outputs", {})
        if not isinstance(outputs, dict):
            raise fields.error("outputs", "an object, as rageval chain run --with reads it")
        prompts_only = bool(fields.flag("prompts_only"))
        order = ActionOrder(chain, name, outputs, edits_of(fields, "edits"), prompts_only)
        question = AskOrder(
            question=fields.string("question") if "question" in fields else None, case=fields.string("case", "") or None
        )
        with self._stopping(order) as stop:
            result = await asyncio.wrap_future(self._project.act(order, question, stop, _ignore))
        if prompts_only:
            texts = [list(each) for each in result.previews[-1].texts]
            return JSONResponse(redact_json({"texts": texts, "model": result.model}))
        output = redact_json(output_of(result.steps, name))
        if output and not result.error and fields.flag("draft"):
            names = [each.name for each in (await self._chain(chain, ())).chain.actions]
            self._board.put_chain(chain, lambda draft: draft.after(name, output, names))
        plain = {
            "output": output,
            "steps": [encoder(Step)(step) for step in result.steps],
            "calls": encode_calls(result.calls),
        }
        return JSONResponse(redact_json({**plain, "error": result.error} if result.error else plain))

    def _stopping(self, order: ActionOrder) -> AbstractContextManager[threading.Event]:
        """Return the stop event of an action; an action of a chain can only run once at a time."""
        if order.prompts_only:  # no model call to stop
            return nullcontext(threading.Event())
        return self._stops.running((order.chain, order.name), f"the action {order.name}")

    async def cancel(self, request: Request) -> Response:
        """Stop a running action; ``chain`` in the query names its chain."""
        name, chain = request.path_params["name"], request.query_params.get("chain", "")
        self._stops.stop((chain, name), f"the action {name} of the chain {chain}")
        return JSONResponse({"cancelled": name})

    async def store_edits(self, request: Request) -> Response:
        """Store unsaved edits, ``{chain, question?, case?, edits?}``; the response lists stale outputs."""
        body = await json_of(request)
        fields = Fields(WHERE, body)
        name = fields.text("chain")
        text = await self._chain(name, ())
        names = [each.name for each in text.chain.actions]
        draft = self._board.put_chain(name, lambda draft: change_chain_draft(draft, body, names))
        return JSONResponse({"stale": list(draft.stale)})

    async def save(self, fields: Fields) -> dict[str, Any]:
        """Save a chain: ``{kind: "chain", chain, edits, preview, seen?}``."""
        fields.only(("kind", "chain", "edits", "preview", "seen"))
        name = fields.text("chain")
        edits = edits_of(fields, "edits")
        before, after = await self._chain(name, ()), await self._chain(name, edits)
        root = self._files_root()
        inside(root, after.path)
        seen = read_snapshot(after.path)
        if seen.content != before.raw:
            raise FileChangedError(after.path.name, "the file changed on disk since it was read; try again")
        old, new = (raw.decode("utf-8-sig").splitlines() for raw in (before.raw, after.raw))
        plain = {
            "file": after.path.name,
            "diff": [each.rstrip("\n") for each in difflib.unified_diff(old, new, "as it is", "new", lineterm="", n=1)],
            "seen": seen.digest,
        }
        if fields.flag("preview") is not False:
            return plain
        digest = fields.string("seen")
        if digest != seen.digest:
            raise FileChangedError(after.path.name, "the file changed on disk since the page read it; look at it again")
        write_file(root, after.path, after.raw, seen=digest)
        self._board.put_chain(
            name, lambda draft: ChainDraft(draft.question, draft.case, (), draft.outputs, draft.stale)
        )
        return {**plain, "written": [after.path.name]}

    def _files_root(self) -> Path:
        files = self._project.files
        if files is None:
            raise SettingError("the project is still being read; wait a moment")
        return files.rootdir

    async def _chain(self, name: str, edits: Sequence[Any]) -> ChainText:
        return await asyncio.wrap_future(self._project.chain(name, edits))


def _ignore(_: Event) -> None:
    """Ignore events: the response has all steps of the action."""
