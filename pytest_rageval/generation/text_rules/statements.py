"""Find statements in documents: sentences with values, clear without their context."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_rageval.generation.text_rules import standalone_en, standalone_zh
from pytest_rageval.generation.text_rules.listed_names import ListedNames
from pytest_rageval.generation.text_rules.values import Value, values_in
from pytest_rageval.model.case import Passage
from pytest_rageval.text.headings import headings
from pytest_rageval.text.language import main_language
from pytest_rageval.text.sentences import sentences

__all__ = ["BLANK", "Statement", "statements_of"]

BLANK = "___"

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\1|\Z)", re.MULTILINE | re.DOTALL)
_ITEM = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,2}[.)、])[ \t]+", re.MULTILINE)
_SOFT = re.compile(r"(?<=[^\s.!?。！？:：;；|])\n(?=[^\s\-*+•|#>\d])")
_SMALL = re.compile(r"(?<![^\W\d_])[a-z]{3,}")
_DIGIT = re.compile(r"\d")
MAX_VALUES = 4


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence with values.

    Attributes:
        passage: the chunk of the sentence.
        topic: the path of the chunk's topic.
        language: ``en`` or ``zh``.
        quote: the verbatim sentence in the chunk.
        text: the sentence on one line.
        values: its values, in order.
        start: the offset of the sentence in the chunk, in characters.
    """

    passage: Passage
    topic: str
    language: str
    quote: str
    text: str
    values: tuple[Value, ...]
    start: int

    @property
    def document(self) -> str:
        """The id of its document."""
        return self.passage.page or self.passage.id

    def blanked(self, *values: Value) -> str:
        """Return the text with blanks instead of ``values``."""
        text = self.text
        for value in sorted(values, key=lambda each: -each.start):
            text = text[: value.start] + BLANK + text[value.end :]
        return text

    @property
    def frame(self) -> str:
        """The text without its values: equal for statements that differ only in values."""
        return " ".join(self.blanked(*self.values).casefold().split())


def statements_of(chunks: Sequence[tuple[Passage, str]], language: str, names: ListedNames) -> Iterator[Statement]:
    """Yield the statements of chunks, in order.

    Args:
        chunks: each chunk with its topic.
        language: ``en``, ``zh``, or ``auto`` for the language of each chunk.
        names: names that also are values.
    """
    lowercase_words = frozenset(word for passage, _ in chunks for word in _SMALL.findall(passage.text))
    for passage, topic in chunks:
        chunk_language = main_language(passage.text, "en") if language == "auto" else language
        is_standalone = standalone_zh.is_standalone if chunk_language == "zh" else standalone_en.is_standalone
        for start, quote, heading in _sentences(passage.text):
            text = " ".join(quote.split()) if chunk_language == "en" else "".join(quote.split("\n"))
            if not (_DIGIT.search(text) or any(names.spans(text))):
                continue
            if is_standalone(text, f"{heading} {passage.title}", lowercase_words):
                values = values_in(text, names)
                if 0 < len(values) <= MAX_VALUES:
                    yield Statement(passage, topic, chunk_language, quote, text, tuple(values), start)


def _sentences(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the start, the text and the heading of each sentence; skip headings, code and tables."""
    without_code = _FENCE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    headings_of_text = list(headings(without_code))
    edges = [(0, 0, ""), *((each.start, each.end, each.title) for each in headings_of_text)]
    for at, (_, begin, heading) in enumerate(edges):
        end = edges[at + 1][0] if at + 1 < len(edges) else len(without_code)
        body = _ITEM.sub(lambda match: " " * len(match[0]), without_code[begin:end])
        body = _SOFT.sub(" ", body)
        position = 0
        for sentence in sentences(body):
            position = body.find(sentence, position)
            start = begin + position
            yield start, text[start : start + len(sentence)], heading
            position += len(sentence)
