"""The values of a case for the templates of the review page."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.review.decision import Decision, Edit
from pytest_rageval.generation.review.edits import changed_words, edit_of
from pytest_rageval.generation.review.presentation import TextPiece, marked_passages, seen_sha
from pytest_rageval.generation.review.session import ReviewSession
from pytest_rageval.model.case import Gold
from pytest_rageval.web.text_fields import field_text, text_of_field

__all__ = ["CaseView", "Change", "changes", "edit_fields", "edit_of_form", "view_of"]

Form = dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class CaseView:
    """A case on its screen.

    Attributes:
        draft: the draft.
        seen: the digest of what the screen shows.
        number: its place in the sample, from 1.
        passages: its sources in full: title, id, and text with the evidence marked.
        own: this reviewer's decision about it; None if there is none.
    """

    draft: Draft
    seen: str
    number: int
    passages: list[tuple[str, str, tuple[TextPiece, ...]]]
    own: Decision | None


@dataclass(frozen=True, slots=True)
class Change:
    """A field of a case that a correction changes, in pieces that are equal (``""``), ``removed`` or ``added``."""

    what: str
    pieces: list[TextPiece]


def view_of(session: ReviewSession, draft: Draft) -> CaseView:
    """Return a case as its screen shows it."""
    passages = [(each.passage.title, each.passage.id, each.pieces) for each in marked_passages(draft)]
    return CaseView(
        draft, seen_sha(draft), session.folder.sample.index(draft) + 1, passages, session.own_decision(draft)
    )


def changes(draft: Draft, edit: Edit) -> list[Change]:
    """Return the fields that a correction changes."""
    before = edit_of(draft)
    texts = {
        "question": (before.question, edit.question),
        "answers": (_gold_text(before.gold), _gold_text(edit.gold)),
        "evidence": ("\n".join(before.evidence), "\n".join(edit.evidence)),
    }
    return [Change(what, changed_words(*pair)) for what, pair in texts.items() if pair[0] != pair[1]]


def edit_fields(edit: Edit) -> dict[str, object]:
    """Return the texts of the form, with a blank alias in each slot, a blank slot and a blank quote to fill in."""
    return {
        "question": field_text(edit.question),
        "slots": [[*map(field_text, slot), ""] for slot in (*edit.gold, ())],
        "evidence": [*map(field_text, edit.evidence), ""],
    }


def edit_of_form(form: Form, before: Edit) -> Edit:
    """Return the correction that a form contains; ignore blank fields and slots without an alias."""
    original_texts = {before.question, *(alias for slot in before.gold for alias in slot), *before.evidence}
    names = sorted((name for name in form if name.startswith("alias-")), key=lambda name: (len(name), name))
    slots = [_texts(form[name], original_texts) for name in names]
    question = _texts(form.get("question", [])[:1], original_texts)
    evidence = _texts(form.get("evidence", []), original_texts)
    return Edit(question[0] if question else "", tuple(filter(None, slots)), evidence)


def _texts(values: list[str], original_texts: set[str]) -> tuple[str, ...]:
    """Return the texts that are not blank; strip white space from all but the original ones."""
    texts = (text if (text := text_of_field(value)) in original_texts else text.strip() for value in values)
    return tuple(text for text in texts if text.strip())


def _gold_text(gold: Gold) -> str:
    return "\n".join(" | ".join(slot) for slot in gold)
