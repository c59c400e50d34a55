"""Detect plain refusals: texts that say they cannot answer, and give no answer."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

from pytest_rageval.text.language import has_chinese
from pytest_rageval.text.refusal_wording import Wording

__all__ = ["LANGUAGES", "may_refuse", "refusal_clauses", "refuses"]

LANGUAGES = ("en", "zh")
"""The supported languages."""

LONGEST = 20_000
"""Maximum number of characters of an answer that are searched."""

_QUOTED = re.compile(r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|「[^」\n]{1,400}」")
_MARKUP = re.compile(r"[*#`>|]+")
_LABEL = re.compile(
    r"\A\s*(?:(?:final )?(?:answer|response)|(?:最终)?(?:答案|回答|答复|回复|答|结论))\s*[:：]", re.IGNORECASE
)

_HINT = re.compile(
    r"\W(?:n(?:o(?:t(?:enough|sufficient|adequate)?|ne|r|thing)?\b|e(?:ver|ither|ed|cessary)|/a)"
    r"|c(?:an(?:not|['’‘`]t)|hallenging|ut\b)|a(?:i\b|b(?:rupt|sent)|dequate)|l(?:eft\b|ack)"
    r"|un(?:able|sure|certain|clear|known|answerable)|i(?:m(?:possible|feasible)|n(?:enough|sufficient|adequate|complete))"
    r"|difficult|hard|require|o(?:utside|mitted)|beyond|e(?:xceeds|nough)|fail|without|s(?:ilent|ufficient)|truncated"
    r"|missing)"
)
_HINT_AT_END = re.compile(r"n['’‘`]t\b")
"""Lower-case words, at least one of which is in each refusal before contractions are expanded: one for each alternative
of `Wording.refusal` and `Wording.closing`. The pattern starts with a literal character, which `re` searches faster."""


def refuses(text: str, languages: Collection[str] = LANGUAGES) -> bool:
    """Return whether ``text`` is a refusal in one of ``languages``.

    A refusal has a clause that refuses and no clause that answers. A clause refuses if it says that the writer cannot
    answer ("I am unable to determine ..."), does not know or has no access, or that the sources do not say ("the
    documents do not mention ..."). These clauses answer:

    - yes or no, at the beginning of the text;
    - any statement before the first refusal, except an aside (see `Wording.aside`);
    - after a refusal, a statement that turns ("but ...", "however ..."), concludes ("therefore ..."), estimates
      ("probably ...") or holds a figure. Years, dates, and the numbers of forms, sections and steps are not figures.
    - after a refusal, a statement of another source ("the second document says that ...").

    If the last clause concludes that there is no answer because the sources lack something ("..., so the ratio cannot
    be calculated"), the text is a refusal: the facts before it are only steps. Yes or no at the start still answers.

    Text in quotation marks is ignored.
    """
    text = text[:LONGEST]
    return any(
        language in LANGUAGES and may_refuse(text, language) and _refuses(text, language) for language in languages
    )


def refusal_clauses(text: str, languages: Collection[str] = LANGUAGES) -> int:
    """Return the largest number of refusing clauses of ``text`` in one of ``languages``; see `refuses`.

    A text with an answer can have refusing clauses, too.
    """
    supported = (language for language in languages if language in LANGUAGES)
    return max((_refusal_clauses(text[:LONGEST], language) for language in supported), default=0)


@lru_cache(maxsize=64)
def may_refuse(text: str, language: str) -> bool:
    """Return whether a text may contain a refusal: in Chinese a Han character, in English a word such as "not".

    This check is fast; the patterns that detect refusals take 0.1 s to compile.
    """
    if language == "zh":
        return has_chinese(text)
    text = text.lower()
    return _HINT.search(f" {text}") is not None or _HINT_AT_END.search(text) is not None


@lru_cache(maxsize=64)
def _refusal_clauses(text: str, language: str) -> int:
    clauses = _clauses(text, language)
    return sum(_wording(language).refusal.search(clause) is not None for clause in clauses)


@lru_cache(maxsize=64)
def _refuses(text: str, language: str) -> bool:
    clauses = _clauses(text, language)
    if not clauses:
        return False
    wording = _wording(language)
    if wording.verdict.match(clauses[0]):
        return False
    if _gives_up(clauses, wording):
        return True
    after_refusal = False
    for clause in clauses:
        if wording.refusal.search(clause):
            after_refusal = True
        elif _answers(clause, wording, after_refusal=after_refusal):
            return False
    return after_refusal


@lru_cache(maxsize=64)
def _clauses(text: str, language: str) -> list[str]:
    """Return the clauses of a text without quotations; none if the text cannot refuse in the language."""
    if not may_refuse(text, language):
        return []
    return _wording(language).clauses(_LABEL.sub("", _MARKUP.sub(" ", _QUOTED.sub(" ", text))))


def _gives_up(clauses: list[str], wording: Wording) -> bool:
    """Return whether the last clause, apart from asides, concludes that there is no answer.

    A refusal or an aside must precede it.
    """
    last = len(clauses) - 1
    while last > 0 and not wording.closing.search(clauses[last]):
        if wording.value.search(clauses[last]) or not wording.aside.search(clauses[last]):
            return False
        last -= 1
    return any(wording.refusal.search(clause) or wording.aside.search(clause) for clause in clauses[:last])


def _answers(clause: str, wording: Wording, *, after_refusal: bool) -> bool:
    """Return whether a clause that is not a refusal is an answer."""
    if after_refusal and wording.elsewhere.search(clause):
        return True
    if wording.aside.search(clause):
        return after_refusal and bool(wording.turn.search(clause) and wording.value.search(clause))
    return not after_refusal or bool(wording.turn.search(clause) or wording.value.search(clause))


def _wording(language: str) -> Wording:
    if language == "zh":
        from pytest_rageval.text.refusals_zh import CHINESE

        return CHINESE
    from pytest_rageval.text.refusals_en import ENGLISH

    return ENGLISH
