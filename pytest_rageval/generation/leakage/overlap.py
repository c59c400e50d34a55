"""Find questions, or long parts of them, in other texts, in linear time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pytest_rageval.metrics.shared.matching import fold
from pytest_rageval.text.language import has_chinese

__all__ = ["CHARACTERS_IN_A_ROW", "WORDS_IN_A_ROW", "Overlap", "QuestionIndex"]

WORDS_IN_A_ROW, CHARACTERS_IN_A_ROW = 13, 30
"""This many consecutive words of a question, or characters of a Chinese question, are no coincidence."""

_FEWEST_WORDS, _FEWEST_CHARACTERS = 4, 8
"""A shorter question must be the whole text: as a part of a text it may be a coincidence."""

_WORD = re.compile(r"\w+")

Units = Sequence[str]


@dataclass(frozen=True, slots=True)
class Overlap:
    """A question in another text.

    Attributes:
        where: the place of the text.
        shared: the consecutive words or characters that both have.
        whole: whether they are the whole question.
    """

    where: str
    shared: str
    whole: bool


@dataclass(slots=True)
class _Script:
    """An index of the questions of one script; its units are words, or characters of Chinese.

    Attributes:
        run: how many consecutive units are no coincidence.
        fewest: how many units a part of a text must have to be compared.
        joint: the separator of units in messages.
        heads: first units -> the runs that start with them, with their questions and whether they are whole questions.
        short: the units of a question that is too short -> its names.
    """

    run: int
    fewest: int
    joint: str
    heads: dict[tuple[str, ...], list[tuple[tuple[str, ...], str, bool]]] = field(default_factory=dict)
    short: dict[tuple[str, ...], list[str]] = field(default_factory=dict)

    def add(self, name: str, units: Units) -> None:
        """Add a question to the index."""
        if len(units) < self.fewest:
            self.short.setdefault(tuple(units), []).append(name)
            return
        length = min(self.run, len(units))
        for at in range(len(units) - length + 1):
            needle = tuple(units[at : at + length])
            self.heads.setdefault(needle[: self.fewest], []).append((needle, name, length == len(units)))

    def find(self, units: Units, where: str, overlaps: dict[str, Overlap]) -> None:
        """Add the first overlap of each question with a text to ``overlaps``."""
        for name in self.short.get(tuple(units), ()):
            overlaps.setdefault(name, Overlap(where, self.joint.join(units), True))
        for at in range(len(units) - self.fewest + 1) if self.heads else ():
            for needle, name, whole in self.heads.get(tuple(units[at : at + self.fewest]), ()):
                if name not in overlaps and tuple(units[at : at + len(needle)]) == needle:
                    overlaps[name] = Overlap(where, self.joint.join(needle), whole)


class QuestionIndex:
    """An index of questions to find in texts.

    A text matches a question if it contains all of it, or 13 consecutive words (30 characters of a Chinese question),
    after folding and without punctuation. It must equal a question of fewer than 4 words (8 characters).

    Args:
        questions: name -> question.
    """

    def __init__(self, questions: Mapping[str, str]) -> None:
        self._words = _Script(WORDS_IN_A_ROW, _FEWEST_WORDS, " ")
        self._characters = _Script(CHARACTERS_IN_A_ROW, _FEWEST_CHARACTERS, "")
        for name, question in questions.items():
            if has_chinese(question):
                self._characters.add(name, _characters(question))
            else:
                self._words.add(name, _words(question))

    def find(self, texts: Iterable[tuple[str, str]]) -> dict[str, Overlap]:
        """Return the first overlap of each question that a text contains.

        Args:
            texts: the place of each text, such as ``file:line``, and the text.
        """
        overlaps: dict[str, Overlap] = {}
        for where, text in texts:
            self._words.find(_words(text), where, overlaps)
            if has_chinese(text):
                self._characters.find(_characters(text), where, overlaps)
        return overlaps


def _words(text: str) -> list[str]:
    return _WORD.findall(fold(text))


def _characters(text: str) -> str:
    return "".join(_words(text))
