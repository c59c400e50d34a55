"""Serve the screens of ``rageval review``: a case, its correction, and the progress."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from pytest_rageval.commands.reviewing.case_view import changes, edit_fields, edit_of_form, view_of
from pytest_rageval.commands.reviewing.reviewer_agreement import agreement_lines
from pytest_rageval.datasets.source import shown_path
from pytest_rageval.errors import DataError, short_repr
from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.review.acceptance import acceptance_of, acceptances
from pytest_rageval.generation.review.apply_decisions import GRADE, decision_that_counts, valid_decisions
from pytest_rageval.generation.review.decision import GRADES, MEND, TICKS, Edit
from pytest_rageval.generation.review.edits import edit_of
from pytest_rageval.generation.review.presentation import seen_sha
from pytest_rageval.generation.review.session import ChangedError, ReviewSession
from pytest_rageval.web.pages import Pages
from pytest_rageval.web.requests import form_of

__all__ = ["ReviewPage"]

PAGES = Pages(__package__)
REREAD = "The drafts changed on disk; they were read anew. Cases that changed are asked again."


class ReviewPage:
    """The endpoints of one session's page. One event loop serves them, so requests run one after the other."""

    def __init__(self, session: ReviewSession) -> None:
        self.session = session
        self._notes: list[str] = []  # for the next screen

    def routes(self) -> Sequence[Route]:
        """Return the routes of the page, for a `Site`."""
        paths: dict[str, tuple[str, Callable[[Request], object]]] = {
            "/": ("GET", self.start),
            "/case": ("GET", self.case),
            "/decide": ("POST", self.decide),
            "/edit": ("GET", self.edit),
            "/correct": ("POST", self.correct),
            "/undo": ("POST", self.undo),
            "/progress": ("GET", self.progress),
        }
        return [Route(path, endpoint, methods=[method]) for path, (method, endpoint) in paths.items()]

    async def start(self, request: Request) -> Response:
        """Go to the next case, after the case with the id in the query ``after``."""
        self._refresh()
        draft = self.session.following(request.query_params.get("after", ""))
        return _to("/progress") if draft is None else _to("/case", id=draft.id)

    async def case(self, request: Request) -> Response:
        """Show a case."""
        self._refresh()
        return self._case(self.session.draft(request.query_params.get("id", "")))

    async def decide(self, request: Request) -> Response:
        """Store a grade, and go to the next case."""
        form = await form_of(request)
        grade = _value(form, "grade")
        if grade not in map(str, GRADES):
            raise DataError("the request", f"grade: found {short_repr(grade)}, wanted 1, 2, 3, 4 or 5")
        name = _value(form, "id")
        self._refresh()
        try:
            self.session.decide(name, _value(form, "seen"), int(grade), _ticks(form))
        except ChangedError as error:
            return self._case(self.session.draft(name), alert=error.problem, status=409)
        return _to("/", after=name)

    async def edit(self, request: Request) -> Response:
        """Show the form of a correction, filled with the reviewer's earlier correction if there is one."""
        self._refresh()
        draft = self.session.draft(request.query_params.get("id", ""))
        decision = self.session.own_decision(draft)
        edit = (decision.edit if decision is not None else None) or edit_of(draft)
        return self._form(draft, edit, () if decision is None else decision.ticks, "")

    async def correct(self, request: Request) -> Response:
        """Check a correction and show what it changes; store it if the form's action is "save"."""
        form = await form_of(request)
        self._refresh()
        draft = self.session.draft(_value(form, "id"))
        edit, ticks = edit_of_form(form, edit_of(draft)), _ticks(form)
        if _value(form, "seen") != seen_sha(draft):
            changed = "the case changed since it was shown; nothing was stored, look at it again"
            return self._form(draft, edit, ticks, changed, status=409)
        fault = self.session.fault(draft, edit)
        if fault or _value(form, "action") != "save":
            return self._form(
                draft, edit, ticks, f"The correction fails a check: {fault}" if fault else "", checked=True
            )
        self.session.decide(draft.id, seen_sha(draft), MEND, ticks, edit)
        return _to("/", after=draft.id)

    async def undo(self, request: Request) -> Response:
        """Undo the reviewer's last decision, and show its case."""
        self._refresh()
        name = self.session.undo()
        if not name:
            self._notes.append("There is nothing to undo.")
        known = {draft.id for draft in self.session.folder.sample}
        return _to("/case", id=name) if name in known else _to("/")

    async def progress(self, request: Request) -> Response:
        """Show how many cases are graded, accepted and waiting for a correction."""
        self._refresh()
        session, drafts = self.session, self.session.drafts_with_decisions()
        waiting = [draft for draft in session.folder.sample if self._needs_correction(draft)]
        return self._page(
            "progress.html",
            total=acceptance_of(draft.verdicts[GRADE] for draft in drafts if GRADE in draft.verdicts),
            cells=acceptances(drafts),
            agreement=list(agreement_lines(session.folder, session.decisions)),
            waiting=waiting,
            command=f"rageval generate PLAN.toml --out {shown_path(session.folder.path)} --finish",
        )

    def _refresh(self) -> None:
        if self.session.refresh():
            self._notes.append(REREAD)

    def _needs_correction(self, draft: Draft) -> bool:
        """Return whether the decision that counts asks for a correction but has none."""
        decision = decision_that_counts(valid_decisions(draft, self.session.decisions))
        return decision is not None and decision.grade == MEND and decision.edit is None

    def _case(self, draft: Draft, alert: str = "", status: int = 200) -> Response:
        changed = self.session.changed_since(draft)
        return self._page(
            "case.html",
            status,
            case=view_of(self.session, draft),
            alert=alert,
            changed=changed,
            ticks=TICKS,
            grades=GRADES,
        )

    def _form(
        self, draft: Draft, edit: Edit, ticked: Sequence[str], fault: str, checked: bool = False, status: int = 200
    ) -> Response:
        return self._page(
            "edit.html",
            status,
            case=view_of(self.session, draft),
            fields=edit_fields(edit),
            changes=changes(draft, edit),
            fault=fault,
            checked=checked and not fault,
            ticks=TICKS,
            ticked=ticked,
        )

    def _page(self, template: str, status: int = 200, **values: object) -> Response:
        notes, self._notes = self._notes, []
        return PAGES.page(
            template, status=status, notes=notes, reviewer=self.session.reviewer, done=self.session.progress, **values
        )


def _to(path: str, **query: str) -> RedirectResponse:
    return RedirectResponse(f"{path}?{urlencode(query)}" if query else path, 303)


def _value(form: dict[str, list[str]], name: str) -> str:
    """Return the first value of a form's field; "" if it is missing."""
    return form.get(name, [""])[0]


def _ticks(form: dict[str, list[str]]) -> list[str]:
    """Return the names of the checked boxes, in the order of `TICKS`."""
    names = set(form.get("tick", []))
    return [name for name in TICKS if name in names]
