"""Read a model's paraphrase of a template's question, and check it."""

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
        UnreadableReplyError: the reply contains no such object or no question.
    """
    question = read_object(reply).get("question")
    if not isinstance(question, str) or not question.strip() or not is_storable(question):
        raise UnreadableReplyError('the JSON object has no "question" that is a text')
    return " ".join(question.split())


def fault_of(wording: str, draft: Draft) -> tuple[str, str] | None:
    """Return the reason and the detail if a paraphrase of a question is unusable; None if it is usable.

    A paraphrase differs from the question, contains all values that the template filled in, and passes the checks of a
    single draft. It contains no value that leads to the row of the answer.
    """
    if question_key(wording) == question_key(draft.question):
        return "unchanged", "the question is the same"
    template_values = draft.verdicts["asked"]
    missing = _missing(template_values["values"], draft.question, wording)
    if missing is not None:
        return "value_missing", f"the question lacks {short_repr(missing)}"
    bridge = next((link for link in template_values["links"] if contains(wording, link)), None)
    if bridge is not None:
        return BRIDGE, f"the question contains {short_repr(bridge)}"
    return first_failure(replace(draft, question=wording))


def _missing(values: Iterable[str], question: str, wording: str) -> str | None:
    """Return the first value that a wording lacks; None if it has all. Texts are folded, numbers read as quantities.

    Longer values are matched first, and each match is used up: "Ann Lee" does not also match "Ann". A value may match
    a part of a word only if it is a part of a word in the question, such as "{job}s".
    """
    rest = wording
    for value in sorted({fold(each): each for each in values}.values(), key=lambda each: (-len(fold(each)), each)):
        if not (contains_whole if contains_whole(question, value) else contains)(rest, value):
            return value
        rest = fold(rest).replace(fold(value), "|")
    return None
