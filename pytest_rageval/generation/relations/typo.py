"""The relation ``typo``: one typing error in one word of the question."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_rageval.generation.relations.invariants import OPENERS, WORD, is_negation
from pytest_rageval.generation.relations.relation import Edit, of_question
from pytest_rageval.text.language import has_chinese

__all__ = ["TYPO"]

MIN_LENGTH = 5
"""Minimum length of a word to edit; an error in a shorter word often gives another word."""

_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_QUOTED = re.compile(r"""["“][^"“”]*["”]|[「『《〈][^」』》〉]*[」』》〉]|(?<!\w)['‘][^'‘’]*['’](?!\w)""")
_JOINED = re.compile(r"[\w@/\\._&+-]")
"""A character that, next to a word, makes it a part of a name, a number or an address."""


def _neighbours() -> dict[str, str]:
    """Return each letter's neighbours on a keyboard, in its row and in the rows above and below."""
    keys = {key: (row, column) for row, line in enumerate(_ROWS) for column, key in enumerate(line)}
    return {
        key: "".join(
            other
            for other, (up, across) in keys.items()
            if other != key and (up, across - column) in {(row, -1), (row, 1), (row - 1, 0), (row - 1, 1),
                                                          (row + 1, 0), (row + 1, -1)}
        )
        for key, (row, column) in keys.items()
    }  # fmt: skip


_NEIGHBOURS = _neighbours()


def _typos(question: str) -> Iterator[Edit]:
    """Yield edits of one letter (two letters swapped, one dropped, doubled, or its neighbour on the keyboard).

    Only words of five or more ASCII letters are edited, except names, negations, words in quotes and parts of longer
    names, numbers or addresses. A capitalised first word is edited only if it often opens a question. A Chinese
    question gets no typos, because its Latin words are names.
    """
    if has_chinese(question):
        return
    quoted_positions = {at for quote in _QUOTED.finditer(question) for at in range(*quote.span())}
    for number, match in enumerate(WORD.finditer(question)):
        start, end = match.span()
        if start not in quoted_positions and _may_have_typo(match[0], question, start, end, first=number == 0):
            for misspelled in _edits(match[0]):
                yield start, end, misspelled


def _may_have_typo(word: str, question: str, start: int, end: int, *, first: bool) -> bool:
    """Return whether a word may be edited; see `_typos`."""
    if len(word) < MIN_LENGTH or not (word.isascii() and word.isalpha()) or is_negation(word):
        return False
    if not word.islower() and not (first and word[1:].islower() and word.casefold() in OPENERS):
        return False
    if _JOINED.match(question[start - 1 : start]):
        return False
    next_characters = question[end : end + 2]
    return not (_JOINED.match(next_characters) and (next_characters[0] not in ".-" or next_characters[1:].isalnum()))


def _edits(word: str) -> Iterator[str]:
    """Yield the word with one edit; its first letter stays, because an error there often gives another word."""
    for at, letter in enumerate(word[1:], 1):
        before, after = word[:at], word[at + 1 :]
        if after[:1] not in ("", letter):
            yield before + after[0] + letter + after[1:]
        yield before + after
        yield before + letter * 2 + after
        for neighbour in _NEIGHBOURS.get(letter, ""):
            yield before + neighbour + after


TYPO = of_question("typo", _typos)
