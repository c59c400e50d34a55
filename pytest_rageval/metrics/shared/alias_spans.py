"""Find the spans of aliases in a text, as offsets into the original (unfolded) text."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from pytest_rageval.metrics.shared.matching import fold, fold_spaces, occurrences
from pytest_rageval.text.notation import join_thousands, join_wide_thousands
from pytest_rageval.text.unicode import nfkc

__all__ = ["alias_spans"]

_HANGUL_PARTS = ("\u1160", "\u11ff")
"""The first and the last vowel or final consonant that Unicode composes with the character before it."""


def alias_spans(text: str, aliases: Iterable[str]) -> list[tuple[int, int]]:
    """Return start and end of each occurrence of an alias in ``text``, in order; overlapping spans are merged.

    `matching.occurrences` finds the aliases, as for `accuracy`. An alias that folds to nothing never occurs. The result
    is empty if the characters of the folded text cannot be traced to the original.
    """
    folded = _folded(text)
    if folded is None:
        return []
    spans = sorted(
        (folded.starts[at], folded.ends[at + len(fold(alias)) - 1])
        for alias in aliases
        for at in occurrences(text, alias)
    )
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


@dataclass(frozen=True, slots=True)
class _Folded:
    """A folded text with the span of each character in the original text: character i is from starts[i] to ends[i]."""

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def only(self, offsets: Sequence[int]) -> _Folded:
        """Return the folded text with only the characters at these offsets."""
        text = "".join(self.text[at] for at in offsets)
        return _Folded(text, tuple(self.starts[at] for at in offsets), tuple(self.ends[at] for at in offsets))

    def reduced(self, text: str) -> _Folded:
        """Return the folded text reduced to ``text``, which lacks some of its characters."""
        if text == self.text:
            return self
        offsets: list[int] = []
        for at, character in enumerate(self.text):
            if len(offsets) < len(text) and character == text[len(offsets)]:
                offsets.append(at)
        return self.only(offsets)


@lru_cache(maxsize=8)
def _folded(text: str) -> _Folded | None:
    """Return the folded text (`fold`) with the original span of each character; None if it cannot be traced."""
    offsets = tuple(range(len(text)))
    original = _Folded(text, offsets, tuple(at + 1 for at in offsets)).reduced(join_wide_thousands(text))
    parts = [(_fold_cluster(original.text[start:end]), start, end) for start, end in _clusters(original.text)]
    normalised = _Folded(
        "".join(part for part, _, _ in parts),
        tuple(original.starts[start] for part, start, _ in parts for _ in part),
        tuple(original.ends[end - 1] for part, _, end in parts for _ in part),
    )
    folded = _single_spaces(normalised)
    folded = folded.reduced(fold_spaces(folded.text))
    folded = folded.reduced(join_thousands(folded.text))
    return folded if folded.text == fold(text) else None


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each cluster: a character and the marks that Unicode may compose with it."""
    start = 0
    for at in range(1, len(text)):
        if not _is_attached(text[at]):
            yield start, at
            start = at
    if text:
        yield start, len(text)


def _is_attached(character: str) -> bool:
    """Return whether Unicode may compose a character with the one before it."""
    if character.isascii():
        return False
    first, last = _HANGUL_PARTS
    return first <= character <= last or unicodedata.combining(unicodedata.normalize("NFKD", character)[0]) != 0


def _fold_cluster(cluster: str) -> str:
    return cluster.casefold() if cluster.isascii() else nfkc(nfkc(cluster).casefold().replace("\u2212", "-"))


def _single_spaces(folded: _Folded) -> _Folded:
    """Return a text with one space for each run of white space, and no white space at its start and end."""
    offsets: list[int] = []
    for at, character in enumerate(folded.text):
        if not character.isspace() or (offsets and not folded.text[offsets[-1]].isspace()):
            offsets.append(at)
    if offsets and folded.text[offsets[-1]].isspace():
        offsets.pop()
    spaced = "".join(" " if character.isspace() else character for character in folded.text)
    return replace(folded, text=spaced).only(offsets)
