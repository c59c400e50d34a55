"""``POST /api/save``: preview and save a case or a chain."""

from __future__ import annotations

from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from pytest_rageval.datasets.fields import Fields
from pytest_rageval.errors import SettingError
from pytest_rageval.generation.saving.record import gold_of_text, passage_records
from pytest_rageval.hooks.playing.saved_files import NEW, SavedFiles
from pytest_rageval.threads import Threads
from pytest_rageval.web.play.board import Board
from pytest_rageval.web.play.chain_api import ChainApi
from pytest_rageval.web.play.saving import PlannedCase, plan_case, write_case
from pytest_rageval.web.requests import json_of

__all__ = ["SaveApi"]

WHERE = "the request"
KEYS = ("kind", "record", "file", "case", "answer", "preview", "seen", "draft")


class SaveApi:
    """Saves a case or a chain after a preview.

    Args:
        board: the draft and the answers.
        chains: saves chains.
    """

    def __init__(self, board: Board, chains: ChainApi) -> None:
        self._board = board
        self._chains = chains
        self._threads = Threads()

    async def save(self, request: Request) -> Response:
        """Save a record: ``{kind: "record", record, file?, case?, answer?, preview, seen?}``.

        With ``preview`` nothing is written; the second request repeats its ``seen``. ``{draft: true}`` instead of
        ``record`` saves the draft. ``answer`` is the number of the answer whose recordings are stored.
        """
        fields = Fields(WHERE, await json_of(request)).without_nulls()
        kind = fields.string("kind", "record")
        if kind == "chain":
            return JSONResponse(await self._chains.save(fields))
        fields.only(KEYS)
        if kind != "record":
            raise fields.error("kind", "record or chain")
        plan = await self._threads.run(partial(self._plan, fields))
        if fields.flag("preview") is not False:
            return JSONResponse(plan.plain())
        keys = self._board.answer(fields.string("answer")).keys if fields.string("answer", "") else ()
        written = await self._threads.run(partial(write_case, plan, self._files(), fields.string("seen"), keys))
        return JSONResponse({**plan.plain(), "written": written})

    def _plan(self, fields: Fields) -> PlannedCase:
        project, files = self._board.project, self._files()
        record, case = (
            (self._draft(fields) if fields.flag("draft") else self._record(fields)),
            fields.string("case", ""),
        )
        nodeid, source_case = project.case(case) if case else ("", None)
        default = (project.dataset_of(case) if case else "") or NEW
        origin = nodeid.rpartition("::")[2]
        return plan_case(files.rootdir, files, fields.string("file", "") or default, record, origin, source_case)

    def _record(self, fields: Fields) -> dict[str, Any]:
        record = fields.values.get("record")
        if not isinstance(record, dict):
            raise fields.error("record", "an object with the keys of a record")
        return record

    def _draft(self, fields: Fields) -> dict[str, Any]:
        """Return the record of the draft, with the history of the answer."""
        turns = self._board.answer(fields.string("answer")).history if fields.string("answer", "") else ()
        draft = self._board.draft
        evidence = [{"page": each.page, "quote": each.quote} for each in draft.evidence]
        record: dict[str, Any] = {"question": draft.question, **gold_of_text(draft.answers or ""), "evidence": evidence}
        record["history"] = [{"question": turn.question, "answer": turn.answer} for turn in turns]
        return {**record, "passages": passage_records(draft.supplied)} if draft.with_passages else record

    def _files(self) -> SavedFiles:
        files = self._board.project.files
        if files is None:
            raise SettingError("the project is still being read; wait a moment")
        return files
