"""Check the wording of a question: leaks, references to the text, language, length."""

from __future__ import annotations

import re

from pytest_rageval.errors import short_repr
from pytest_rageval.generation.draft import Draft
from pytest_rageval.metrics.shared.affirming import affirms
from pytest_rageval.metrics.shared.matching import fold, occurrences
from pytest_rageval.model.case import Gold
from pytest_rageval.text.language import main_language

__all__ = [
    "answer_in_question", "follow_up_complete", "gold_in_question", "language", "refers_to_text", "too_long", "yes_no",
]  # fmt: skip

LONGEST = 300
"""The most characters of a question."""

SHORT_ANSWERS = frozenset({"extractive_qa", "multi_hop_qa"})
"""Tasks whose answer is more than a yes or a no."""

_EN_TEXT = re.compile(
    r"\b(?:according to|based on|as (?:stated|mentioned|described) in) (?:the|this|that) "
    r"(?:above |given |following |provided )?(?:article|context|document|excerpt|paragraph|passage|text)\b"
    r"|\bthe (?:above|aforementioned)\b|\b(?:mentioned|described|stated) (?:above|below)\b"
    r"|\bthis (?:article|document|excerpt|paragraph|passage|text)\b",
    re.IGNORECASE,
)
_ZH_TEXT = re.compile(
    r"(?:根据|依据|按照)(?:上述|以上|该|本|此|这篇|给定的?)(?:文|材料|文档|段|内容|资料)|上文|本文|上述(?:文|材料|文档|段|内容)"
)
_PRONOUN = re.compile(
    r"(?:(?:and|but|so|then) )?(?:he|she|it|they|him|them|his|her|hers|its|their|theirs|this|these|those)\b"
    r"|(?:他|她|它)(?:们)?(?:的)?|(?:这|该|此)(?:个|位|些|家|项|种)?",
    re.IGNORECASE,
)

_ACRONYM = re.compile(r"IT\b")


def answer_in_question(draft: Draft) -> str:
    """Find an alias that the question holds (`gold_in_question`)."""
    found = gold_in_question(draft.question, draft.gold, draft.task)
    return "" if found is None else f"{short_repr(found)} is in the question"


def gold_in_question(question: str, gold: Gold, task: str) -> str | None:
    """Return the first alias that a question holds, folded; None if it holds none.

    A contrast names the things that it compares, so a contrast has to hold every slot.
    """
    hits = [
        next((alias for alias in slot if next(occurrences(question, alias), None) is not None), None) for slot in gold
    ]
    found = [hit for hit in hits if hit is not None]
    if task == "contrast_qa" and len(found) < len(hits):
        return None
    return found[0] if found else None


def yes_no(draft: Draft) -> str:
    """Find an extractive or multi-hop draft whose answer only affirms or denies."""
    if draft.task not in SHORT_ANSWERS:
        return ""
    answer = next((alias for slot in draft.gold for alias in slot if _only_affirms(alias)), None)
    return f"the answer is only {short_repr(answer)}" if answer is not None else ""


def refers_to_text(draft: Draft) -> str:
    """Find a question about "the text above", and one that opens with a pronoun before any earlier turn."""
    question = fold(draft.question)
    match = _EN_TEXT.search(question) or _ZH_TEXT.search(question)
    if match is None and not draft.history:
        match = None if _ACRONYM.match(draft.question.strip()) else _PRONOUN.match(question)
    return f"{short_repr(match[0])} refers to a text that the reader does not have" if match else ""


def follow_up_complete(draft: Draft) -> str:
    """Find a later turn that names the entity of the first in full: it would not depend on the conversation.

    The entity is the title of the first source, or any of the names in ``verdicts["entities"]``.
    """
    if not draft.history or not draft.sources:
        return ""
    entities = draft.verdicts.get("entities") or [draft.sources[0].title]
    first, question = fold(draft.history[0].question), fold(draft.question)
    again = next((each for each in entities if fold(each) and fold(each) in first and fold(each) in question), None)
    return f"{short_repr(again)} is named again" if again is not None else ""


def language(draft: Draft) -> str:
    """Find a question in another language than the draft's."""
    found = main_language(draft.question, draft.language)
    return f"the question is {found}, wanted {draft.language}" if found != draft.language else ""


def too_long(draft: Draft) -> str:
    """Find a question of more than 300 characters."""
    return f"{len(draft.question)} characters" if len(draft.question) > LONGEST else ""


def _only_affirms(alias: str) -> bool:
    """Return whether an answer is a yes or a no and little else."""
    return affirms(alias) is not None and len(alias.split()) <= 3 and len(alias) <= 20
