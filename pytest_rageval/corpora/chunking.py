"""Cut documents into passages: the setting ``rag_chunking``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pytest_rageval.errors import SettingError, did_you_mean, short_repr
from pytest_rageval.text.headings import headings
from pytest_rageval.text.sentences import sentences
from pytest_rageval.text.words import words

__all__ = ["Chunking", "parse_chunking"]

Span = tuple[int, int]

GRAMMAR = "write none, tokens SIZE [OVERLAP], sentences SIZE [OVERLAP] or sections"


@dataclass(frozen=True, slots=True)
class Chunking:
    """The settings of chunking.

    Attributes:
        unit: "none" (a document is one passage), "tokens" (words, jieba's for Chinese), "sentences" or "sections"
            (from one Markdown heading to the next).
        size: units per chunk, >= 1.
        overlap: units that a chunk shares with the next one, 0..size-1.
    """

    unit: str = "none"
    size: int = 1
    overlap: int = 0

    def spans(self, text: str) -> Iterator[Span]:
        """Yield start and end of each chunk of ``text``, without white space at its edges.

        The chunks cover all characters except white space. A blank text has no chunks.
        """
        units = _UNITS[self.unit](text)
        step = self.size - self.overlap
        for first in range(0, max(len(units) - self.overlap, 1), step):
            begin, end = units[first][0], units[min(first + self.size, len(units)) - 1][1]
            chunk = text[begin:end]
            begin, end = begin + len(chunk) - len(chunk.lstrip()), end - len(chunk) + len(chunk.rstrip())
            if begin < end:
                yield begin, end


def parse_chunking(text: str) -> Chunking:
    """Parse ``rag_chunking``; raise `SettingError` for an invalid value."""
    unit, *numbers = text.split() or ["none"]
    if unit not in _UNITS:
        raise SettingError(f"rag_chunking: unknown chunking {short_repr(unit)}; {did_you_mean(unit, _UNITS)}")
    counts = [int(number) for number in numbers if number.isascii() and number.isdecimal() and len(number) < 10]
    valid_lengths = (1, 2) if unit in ("tokens", "sentences") else (0,)
    if len(counts) != len(numbers) or len(counts) not in valid_lengths:
        raise SettingError(f"rag_chunking is {short_repr(text)}; {GRAMMAR}, in whole numbers")
    size, overlap = (*(counts or [1]), 0)[:2]
    if size <= overlap:
        raise SettingError(f"rag_chunking is {short_repr(text)}; SIZE must be at least 1 and larger than OVERLAP")
    return Chunking(unit, size, overlap)


def _whole(text: str) -> list[Span]:
    return [(0, len(text))]


def _tokens(text: str) -> list[Span]:
    return _tiles(text, words(text))


def _sentences(text: str) -> list[Span]:
    return _tiles(text, sentences(text))


def _sections(text: str) -> list[Span]:
    """Return the text before the first heading, then one section per heading.

    A heading directly followed by another one belongs to the same section.
    """
    edges, body = [0], 0
    for heading in headings(text):
        if text[body : heading.start].strip():
            edges.append(heading.start)
        body = heading.end
    return list(zip(edges, [*edges[1:], len(text)], strict=True))


_UNITS: dict[str, Callable[[str], list[Span]]] = {
    "none": _whole,
    "sections": _sections,
    "sentences": _sentences,
    "tokens": _tokens,
}


def _tiles(text: str, pieces: list[str]) -> list[Span]:
    """Return one span per piece; together the spans cover the whole text.

    A gap between two pieces is split at its last white space. So a word keeps the bracket before it and the full stop
    after it.
    """
    edges, at = [0], 0
    for piece in pieces:
        start = text.find(piece, at)
        if at:
            edges.append(start - len(_prefix_of_next(text[at:start])))
        at = start + len(piece)
    return list(zip(edges, [*edges[1:], len(text)], strict=True))


def _prefix_of_next(gap: str) -> str:
    """Return the part of a gap after its last white space; "" without white space."""
    parts = gap.split()
    return parts[-1] if parts and parts[-1] != gap and not gap[-1].isspace() else ""
