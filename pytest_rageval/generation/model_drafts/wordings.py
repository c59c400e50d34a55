"""Read a model's other wording of a template's question, and find what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pytest_rageval.errors import short_repr
from pytest_rageval.generation.checks.single import first_failure
from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.model_drafts.replies import is_storable
from pytest_rageval.generation.templates.row_drafts import BRIDGE
from pytest_rageval.judges.replies import UnreadableReplyError, read_object
from pytest_rageval.metrics.shared.matching import contains, fold
from pytest_rageval.metrics.shared.similar_questions import question_key
from pytest_rageval.metrics.shared.whole_words import contains_whole

__all__ = ["fault_of", "read_wording"]


def read_wording(reply: str) -> str:
    """Return the question in a reply, on one line: the ``question`` of its one JSON object.

    Raises:
        UnreadableReplyError: the reply has none.
    """
    question = read_object(reply).get("question")
    if not isinstance(question, str) or not question.strip() or not is_storable(question):
        raise UnreadableReplyError('the JSON object has no "question" that is a text')
    return " ".join(question.split())


def fault_of(wording: str, draft: Draft) -> tuple[str, str] | None:
    """Return the reason and the finding of what is wrong with another wording of a question; None if nothing is.

    It has to differ from the question, to hold all values that the template fills in, and to pass the checks of one
    draft. A value that leads to the row of the answer must not be in it.
    """
    if question_key(wording) == question_key(draft.question):
        return "unchanged", "it is the question itself"
    asked = draft.verdicts["asked"]
    missing = _missing(asked["values"], draft.question, wording)
    if missing is not None:
        return "value_missing", f"{short_repr(missing)} is not in it"
    bridge = next((link for link in asked["links"] if contains(wording, link)), None)
    if bridge is not None:
        return BRIDGE, f"{short_repr(bridge)} is in it"
    return first_failure(replace(draft, question=wording))


def _missing(values: Iterable[str], question: str, wording: str) -> str | None:
    """Return the first value that a wording lacks, folded, numbers as quantities; None if it has all.

    The longest come first, and a place counts for one value: "Ann Lee" does not hold "Ann", too. A value is a part of a
    word only if it is one in the question, as in "{job}s".
    """
    rest = wording
    for value in sorted({fold(each): each for each in values}.values(), key=lambda each: (-len(fold(each)), each)):
        if not (contains_whole if contains_whole(question, value) else contains)(rest, value):
            return value
        rest = fold(rest).replace(fold(value), "|")
    return None
