"""Detect answers that decline to answer, or say that the documents have errors."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pytest_rageval.metrics.shared.matching import contains, fold, occurrences
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.phrases import Markers
from pytest_rageval.text.refusals import refuses

__all__ = ["flags_error", "rejects"]

_CLAUSE_BREAK = re.compile(r"\n(?![ \t]*[a-z\n])")
"""A line break that ends a clause: the next line does not begin with a small letter."""

_WINDOW = 80
"""Number of characters before a marker that may contain its negation."""

_NEGATED_EN = re.compile(
    r"""
    (?: \b(?:no|not|cannot|never|neither|nor|none) | n['’]t | (?<!not\ )\b(?:without|free\ of|free\ from) )
    (?:
        \ (?!(?:although|and|as|because|but|by|despite|due|free|given|if|just|only|owing|since|so|though|when|while
            |with|without)\b)
        [\w'’-]+
    ){0,5}
    \ ?["'“‘]?\Z
    """,
    re.VERBOSE,
)
_NEGATED_ZH = re.compile(
    r"""
    (?: 不存在 | 不包含 | 不包括 | 不含 | 不是 | 找不到 | 并非 | 没 | 未 | 无(?!论) )
    (?: (?!由于|[因但而且并却]) \w ){0,10}
    ["“‘「]?\Z
    """,
    re.VERBOSE,
)


def rejects(answer: Answer, markers: Markers) -> bool:
    """Return whether the system declines to answer.

    ``answer.abstained`` decides if the system set it. Otherwise it declines if the answer is a plain refusal in one of
    the languages of ``markers.rules`` (see `text.refusals.refuses`), or contains a rejection marker of any language
    (see `matching.contains`).
    """
    if answer.abstained is not None:
        return answer.abstained
    if refuses(answer.text, markers.rules):
        return True
    return any(contains(answer.text, phrase) for phrase in _phrases(markers.rejection))


def flags_error(text: str, markers: Markers) -> bool:
    """Return whether the text says that the documents have factual errors.

    It does if an error marker of any language occurs at least once without a negation. A negation stands before the
    marker, in the same clause, and has one of these forms:

    - English: one of no, not, cannot, n't, never, neither, nor, none, without, free of, free from; then at most five
      words, but no word that opens a clause or changes the sense (although, and, as, because, but, by, despite, due,
      free, given, if, just, only, owing, since, so, though, when, while, with, without).
    - Chinese: one of 不存在, 不包含, 不包括, 不含, 不是, 找不到, 并非, 没, 未, 无 (not 无论); then at most ten
      characters, but none of 由于, 因, 但, 而, 且, 并 and 却.

    Punctuation ends a clause. A line break also ends it, unless the next line begins with a small letter. A negation
    after the marker ("factual errors were not found") is not detected.
    """
    clauses = fold(_CLAUSE_BREAK.sub("\n. ", text))
    return any(
        not _negated(clauses, position)
        for phrase in _phrases(markers.error)
        for position in occurrences(clauses, phrase)
    )


def _negated(text: str, position: int) -> bool:
    """Return whether the marker at ``position`` of the folded text is negated by the words before it."""
    begin = max(0, position - _WINDOW)
    return any(pattern.search(text, begin, position) for pattern in (_NEGATED_EN, _NEGATED_ZH))


def _phrases(by_language: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Yield the markers of all languages, because an answer may be in another language than its question."""
    for phrases in by_language.values():
        yield from phrases
