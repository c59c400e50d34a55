"""Fold texts for comparison, with offsets into the original text."""

from __future__ import annotations

import unicodedata
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, zip_longest

from pytest_rageval.text.unicode import nfkc

__all__ = ["FoldedText", "fold_compact", "fold_with_offsets", "shared_run"]

_VOWELS_AND_FINALS = ("\u1160", "\u11ff")
"""First and last Hangul jamo that combine with the previous syllable."""


@dataclass(frozen=True, slots=True)
class FoldedText:
    """A text in NFKC, case folded, without white space.

    Attributes:
        text: the folded text.
        starts: for each folded character, the start of its original.
        ends: for each folded character, the end of its original.
    """

    text: str
    starts: array[int]
    ends: array[int]

    def span(self, begin: int, end: int) -> tuple[int, int]:
        """Return the original span of the folded characters ``begin`` to ``end``."""
        return self.starts[begin], self.ends[end - 1]

    def find(self, needle: str) -> Iterator[tuple[int, int]]:
        """Yield the original spans of all occurrences of a folded text; they do not overlap."""
        at = self.text.find(needle) if needle else -1
        while at >= 0:
            yield self.span(at, at + len(needle))
            at = self.text.find(needle, at + len(needle))


@lru_cache(maxsize=256)
def fold_compact(text: str) -> str:
    """Return a text in NFKC, case folded, without white space."""
    return "".join(nfkc(nfkc(text).casefold()).split())


def fold_with_offsets(text: str) -> FoldedText:
    """Return the result of `fold_compact` with offsets into the original."""
    clusters = _clusters(text)
    pieces = list(map(_fold_cluster, clusters))
    edges = list(accumulate(map(len, clusters), initial=0))
    starts = array("L", [edges[at] for at, piece in enumerate(pieces) for _ in piece])
    ends = array("L", [edges[at] for at, piece in enumerate(pieces, 1) for _ in piece])
    return FoldedText("".join(pieces), starts, ends)


@lru_cache(maxsize=256)
def shared_run(needle: str, text: str) -> tuple[int, int]:
    """Return the start and end in ``needle`` of the longest common run of characters with ``text``.

    The first of several runs counts; (0, 0) if there is none.
    """
    if needle in text:
        return 0, len(needle)
    best = start = 0
    for at in range(len(needle)):
        while at + best < len(needle) and needle[at : at + best + 1] in text:
            start, best = at, best + 1
    return start, start + best


def _clusters(text: str) -> Sequence[str]:
    """Return the parts of a text that can be normalised separately: a character and those that combine with it."""
    joining = set() if text.isascii() else {character for character in set(text) if _joins(character)}
    if not joining:
        return text
    starts = [at for at, character in enumerate(text) if character not in joining or not at]
    return [text[start:end] for start, end in zip_longest(starts, starts[1:])]


@lru_cache(maxsize=8192)
def _joins(character: str) -> bool:
    """Return whether normalisation may combine a character with the previous one."""
    first = unicodedata.normalize("NFKD", character)[0]
    low, high = _VOWELS_AND_FINALS
    return unicodedata.category(first).startswith("M") or low <= first <= high


@lru_cache(maxsize=16384)
def _fold_cluster(cluster: str) -> str:
    return fold_compact.__wrapped__(cluster)
