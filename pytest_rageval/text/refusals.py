"""Whether an answer is a plain refusal: it says that it cannot answer, and gives no answer beside that."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import lru_cache

from pytest_rageval.text.language import has_chinese

__all__ = ["LANGUAGES", "Wording", "refuses"]

LANGUAGES = ("en", "zh")
"""The languages whose refusals are known."""

LONGEST = 20_000
"""Characters of an answer that are read."""

_QUOTED = re.compile(r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|「[^」\n]{1,400}」")
_MARKUP = re.compile(r"[*#`>|]+")


@dataclass(frozen=True, slots=True)
class Wording:
    """How one language refuses and answers; the patterns are searched in single clauses.

    Attributes:
        clauses: splits a text into clauses.
        refusal: says that the question cannot be answered, or that the sources do not say.
        verdict: begins a text that answers yes or no.
        aside: neither answers nor refuses: an apology, advice, an offer, a need, a method, what the
            sources are about, that they are wrong.
        turn: turns from a refusal to an answer, or concludes or estimates one.
        value: holds a figure that may be an answer.
    """

    clauses: Callable[[str], list[str]]
    refusal: re.Pattern[str]
    verdict: re.Pattern[str]
    aside: re.Pattern[str]
    turn: re.Pattern[str]
    value: re.Pattern[str]


def refuses(text: str, languages: Collection[str] = LANGUAGES) -> bool:
    """Return whether ``text`` is a refusal in one of ``languages``.

    It is when a clause refuses and no clause answers. A clause refuses when it says that the writer cannot answer
    ("I am unable to determine ..."), does not know or has no access, or that the sources do not say ("the documents do
    not mention ..."). These clauses answer:

    - yes or no, at the beginning of the text;
    - any statement before the first refusal, but for an aside (see `Wording.aside`);
    - after a refusal, a statement that turns ("but ...", "however ..."), concludes ("therefore ..."), estimates
      ("probably ...") or holds a figure. Years, dates, and the numbers of forms, sections and steps are no figures.

    What stands in quotation marks is not read.
    """
    return any(_refuses(text[:LONGEST], language) for language in languages if language in LANGUAGES)


@lru_cache(maxsize=64)
def _refuses(text: str, language: str) -> bool:
    if language == "zh" and not has_chinese(text):
        return False
    wording = _wording(language)
    clauses = wording.clauses(_MARKUP.sub(" ", _QUOTED.sub(" ", text)))
    if not clauses or wording.verdict.match(clauses[0]):
        return False
    refused = False
    for clause in clauses:
        if wording.refusal.search(clause):
            refused = True
        elif _answers(clause, wording, refused=refused):
            return False
    return refused


def _answers(clause: str, wording: Wording, *, refused: bool) -> bool:
    """Return whether a clause that does not refuse answers."""
    if wording.aside.search(clause):
        return refused and bool(wording.turn.search(clause) and wording.value.search(clause))
    return not refused or bool(wording.turn.search(clause) or wording.value.search(clause))


def _wording(language: str) -> Wording:
    if language == "zh":
        from pytest_rageval.text.refusals_zh import CHINESE

        return CHINESE
    from pytest_rageval.text.refusals_en import ENGLISH

    return ENGLISH
