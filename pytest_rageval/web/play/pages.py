"""Show the pages "Ask", "Cases" and "Run"."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from pytest_rageval.errors import SettingError
from pytest_rageval.generation.saving.record import answers_text
from pytest_rageval.generation.shrinking.reply import IGNORES
from pytest_rageval.hooks.playing.saved_files import NEW
from pytest_rageval.web.pages import Pages
from pytest_rageval.web.play.answer_view import FIRST_PASSAGES, LONGEST, AnswerView, PassageView, answer_view, one_line
from pytest_rageval.web.play.api import Api
from pytest_rageval.web.play.board import Board
from pytest_rageval.web.play.draft import draft_of_run
from pytest_rageval.web.play.marked_text import marked_text
from pytest_rageval.web.play.stored_cases import StoredCases
from pytest_rageval.web.requests import form_of

__all__ = ["PlayPages"]

PAGES = Pages(__package__)

MAX_LISTED = 50
"""Maximum number of cases in a list."""


class PlayPages:
    """The HTML pages.

    Args:
        board: the draft and the answers.
        runs: the stored runs.
        api: the state that every page shows.
    """

    def __init__(self, board: Board, runs: StoredCases, api: Api) -> None:
        self._board = board
        self._project = board.project
        self._runs = runs
        self._api = api

    def routes(self) -> Sequence[Route]:
        """Return the routes."""
        return [
            Route("/", self.ask),
            Route("/cases", self.cases),
            Route("/take", self.take, methods=["POST"]),
            Route("/run", self.run),
            Route("/run/take", self.take_of_run, methods=["POST"]),
            Route("/answer/{number}", self.answer),
        ]

    def page(self, template: str, **values: Any) -> Response:
        """Return a page with the state that every page shows."""
        return PAGES.page(template, state=self._api.values(), **values)

    def ask(self, request: Request) -> Response:
        """Show the draft, the last answer and the earlier ones."""
        case_name = request.query_params.get("case", "")
        draft = self._board.draft
        if case_name and self._project.ready:
            nodeid, case = self._project.case(case_name)
            if not draft.is_edited:
                self._board.put(lambda draft: draft.with_case(nodeid, case.instance.question), draft.version)
                return RedirectResponse("/", 303)
        views = [self._view(each.id) for each in reversed(self._board.answers)]
        views.sort(key=lambda view: view.answer.id != draft.before)  # the answer of the draft comes first
        return self.page(
            "ask.html",
            draft=draft,
            wanted=case_name,
            last=views[0] if views else None,
            earlier=views[1:],
            saving=self._saving(),
            passages=self._draft_passages("all" in request.query_params),
            ignores=IGNORES.partition("; ")[0].replace("its system", "The system"),
            runs=bool(self._runs.names()),
        )

    def cases(self, request: Request) -> Response:
        """List the cases that contain all words; ``name=value`` is a facet."""
        words, facets = _terms(request.query_params.get("words", ""))
        missed = self._runs.missed("") if request.query_params.get("missed") and self._runs.names() else None
        matches, n = self._project.find_cases(words, facets, MAX_LISTED, missed)
        version = self._board.draft.version
        return PAGES.page("cases.html", cases=matches, n=n, of=self._project.n_cases, version=version)

    async def take(self, request: Request) -> Response:
        """Put a case into the draft; ``version`` is the version of the draft that the page shows."""
        form = await form_of(request)
        nodeid, case = self._project.case(_field(form, "case"))
        self._board.put(lambda draft: draft.with_case(nodeid, case.instance.question), _version(form))
        return RedirectResponse("/", 303)

    def run(self, request: Request) -> Response:
        """Show the cases of a run, or one of them with its recorded answer."""
        run, name = (request.query_params.get(key, "") for key in ("run", "case"))
        names = self._runs.names()
        if not names and not run:
            return self.page("run.html", names=[], run="", head="", cases=[], n=0, words="", missed=False, view=None)
        words, missed = request.query_params.get("words", ""), bool(request.query_params.get("missed"))
        view = answer_view(self._runs.case(run, name)) if name else None
        cases, n = ([], 0) if name else self._runs.find_cases(run, words, only_missed=missed, limit=MAX_LISTED)
        return self.page(
            "run.html", names=names, run=run, head=self._runs.head(run), cases=cases, n=n, words=words, missed=missed,
            view=view,
        )  # fmt: skip

    async def take_of_run(self, request: Request) -> Response:
        """Put a case of a run into the draft, with the passages of its system if the form asks for them."""
        form = await form_of(request)
        answer = self._runs.case(_field(form, "run"), _field(form, "case"))
        nodeid, _ = self._project.case(answer.case)
        keep_passages = bool(form.get("passages"))
        self._board.put(lambda draft: draft_of_run(draft, answer, nodeid, keep_passages=keep_passages), _version(form))
        return RedirectResponse("/", 303)

    def answer(self, request: Request) -> Response:
        """Show the whole text of an answer."""
        return PlainTextResponse(self._board.answer(request.path_params["number"]).answer or "")

    def _saving(self) -> dict[str, Any]:
        """Return the values of the form that saves a case."""
        draft, files = self._board.draft, self._project.files
        answers = {each.id: each for each in self._board.answers}
        answer = answers.get(draft.before) or (self._board.answers[-1] if self._board.answers else None)
        text = (answer.answer or "") if answer else ""
        dataset = self._project.dataset_of(draft.case) if draft.case and files is not None else ""
        datasets = [] if files is None else files.datasets
        default = (datasets[:1] if self._project.order.dataset else [dataset] if dataset else []) or [NEW]
        return {
            "answers": draft.answers if draft.answers is not None else answers_text(answer.gold if answer else ()),
            "file": draft.file or default[0],
            "files": dict.fromkeys([*default, *datasets, NEW]),
            "right": one_line(text) if len(text) <= LONGEST else "",
            "answer": answer.id if answer else "",
        }

    def _draft_passages(self, whole: bool) -> list[PassageView]:
        """Return the passages of the draft with marks: all if ``whole``, else the first ones."""
        draft = self._board.draft
        answers = {each.id: each for each in self._board.answers}
        gold = answers[draft.before].gold if draft.before in answers else ()
        aliases = [alias for slot in gold for alias in slot]
        passages = draft.passages or ()
        return [
            PassageView(each, marked_text(each.text, aliases, draft.question))
            for each in (passages if whole else passages[:FIRST_PASSAGES])
        ]

    def _view(self, number: str) -> AnswerView:
        answer = self._board.answer(number)
        answers = {each.id: each for each in self._board.answers}
        return answer_view(answer, answers.get(answer.before))


def _terms(text: str) -> tuple[str, dict[str, str]]:
    """Return the words and the facets of a search; values with spaces need quotes."""
    try:
        terms = shlex.split(text)
    except ValueError:  # an open quote while a person is typing
        terms = text.split()
    facets = dict(term.split("=", 1) for term in terms if "=" in term)
    return " ".join(term for term in terms if "=" not in term), facets


def _version(form: dict[str, list[str]]) -> int:
    text = _field(form, "version")
    if not text.isdecimal():
        raise SettingError("the request: the field version is not a number")
    return int(text)


def _field(form: dict[str, list[str]], name: str) -> str:
    """Return the only value of a field of a form."""
    values = form.get(name, [])
    if len(values) != 1:
        raise SettingError(f"the request: the field {name} is missing")
    return values[0]
