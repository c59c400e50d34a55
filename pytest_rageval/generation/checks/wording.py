"""Check the wording of a question: leaks, references to the text, language, length."""

from __future__ import annotations

import re

from pytest_rageval.errors import short_repr
from pytest_rageval.generation.draft import Draft
from pytest_rageval.metrics.shared.matching import fold, occurrences
from pytest_rageval.metrics.shared.yes_no import yes_or_no
from pytest_rageval.model.case import Gold
from pytest_rageval.text.language import main_language

__all__ = [
    "answer_in_question", "follow_up_complete", "gold_in_question", "language", "refers_to_text", "too_long", "yes_no",
]  # fmt: skip

MAX_LENGTH = 300
"""Maximum length of a question in characters."""

SHORT_ANSWERS = frozenset({"extractive_qa", "multi_hop_qa"})
"""Tasks whose answer must not be only yes or no."""

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
    """Report an alias that the question contains (see `gold_in_question`)."""
    alias = gold_in_question(draft.question, draft.gold, draft.task)
    return "" if alias is None else f"{short_repr(alias)} is in the question"


def gold_in_question(question: str, gold: Gold, task: str) -> str | None:
    """Return the first alias that a question contains after folding; None if it contains none.

    A contrast question names the things that it compares, so it fails only if it contains every slot.
    """
    hits = [
        next((alias for alias in slot if next(occurrences(question, alias), None) is not None), None) for slot in gold
    ]
    aliases = [hit for hit in hits if hit is not None]
    if task == "contrast_qa" and len(aliases) < len(hits):
        return None
    return aliases[0] if aliases else None


def yes_no(draft: Draft) -> str:
    """Report an extractive or multi-hop draft whose answer is only yes or no."""
    if draft.task not in SHORT_ANSWERS:
        return ""
    answer = next((alias for slot in draft.gold for alias in slot if _is_yes_or_no(alias)), None)
    return f"the answer is only {short_repr(answer)}" if answer is not None else ""


def refers_to_text(draft: Draft) -> str:
    """Report a question about "the text above", or one without earlier turns that opens with a pronoun."""
    question = fold(draft.question)
    match = _EN_TEXT.search(question) or _ZH_TEXT.search(question)
    if match is None and not draft.history:
        match = None if _ACRONYM.match(draft.question.strip()) else _PRONOUN.match(question)
    return f"{short_repr(match[0])} refers to a text that the reader does not have" if match else ""


def follow_up_complete(draft: Draft) -> str:
    """Report a later turn that names the first turn's entity in full, so it does not depend on the conversation.

    The entity is any name in ``verdicts["entities"]``, by default the title of the first source.
    """
    if not draft.history or not draft.sources:
        return ""
    entities = draft.verdicts.get("entities") or [draft.sources[0].title]
    first, question = fold(draft.history[0].question), fold(draft.question)
    repeated_name = next(
        (each for each in entities if fold(each) and fold(each) in first and fold(each) in question), None
    )
    return f"{short_repr(repeated_name)} is named again" if repeated_name is not None else ""


def language(draft: Draft) -> str:
    """Report a question in another language than the draft's."""
    language_of_question = main_language(draft.question, draft.language)
    return (
        f"the question is {language_of_question}, wanted {draft.language}"
        if language_of_question != draft.language
        else ""
    )


def too_long(draft: Draft) -> str:
    """Report a question of more than 300 characters."""
    return f"{len(draft.question)} characters" if len(draft.question) > MAX_LENGTH else ""


def _is_yes_or_no(alias: str) -> bool:
    """Return whether an answer is a yes or a no with few other words."""
    return yes_or_no(alias) is not None and len(alias.split()) <= 3 and len(alias) <= 20
