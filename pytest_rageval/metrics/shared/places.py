"""Find where a text contains an alias, as offsets into the text as it is written."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from pytest_rageval.metrics.shared.matching import fold, fold_spaces, occurrences
from pytest_rageval.text.notation import join_thousands, join_wide_thousands
from pytest_rageval.text.unicode import nfkc

__all__ = ["places"]

_HANGUL_PARTS = ("\u1160", "\u11ff")
"""The first and the last vowel or final consonant that Unicode composes with the character before it."""


def places(text: str, aliases: Iterable[str]) -> list[tuple[int, int]]:
    """Return the start and end of each part of ``text`` that is an alias, in order; parts that overlap are one.

    An alias occurs as in `matching.occurrences`, which `accuracy` uses too. An alias that folds to nothing never
    occurs. A text whose characters cannot be followed through folding gives no places.
    """
    folded = _folded(text)
    if folded is None:
        return []
    found = sorted(
        (folded.starts[at], folded.ends[at + len(fold(alias)) - 1])
        for alias in aliases
        for at in occurrences(text, alias)
    )
    merged: list[tuple[int, int]] = []
    for start, end in found:
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


@dataclass(frozen=True, slots=True)
class _Folded:
    """A folded text; each of its characters comes from a part of the text as written."""

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def only(self, kept: Sequence[int]) -> _Folded:
        """Return this with only the characters at these offsets."""
        text = "".join(self.text[at] for at in kept)
        return _Folded(text, tuple(self.starts[at] for at in kept), tuple(self.ends[at] for at in kept))

    def reduced(self, text: str) -> _Folded:
        """Return this as ``text``, which is this text with some characters removed."""
        if text == self.text:
            return self
        kept: list[int] = []
        for at, character in enumerate(self.text):
            if len(kept) < len(text) and character == text[len(kept)]:
                kept.append(at)
        return self.only(kept)


@lru_cache(maxsize=8)
def _folded(text: str) -> _Folded | None:
    """Return `fold` of a text with the origin of each character; None if it cannot be followed."""
    everywhere = tuple(range(len(text)))
    written = _Folded(text, everywhere, tuple(at + 1 for at in everywhere)).reduced(join_wide_thousands(text))
    parts = [(_fold_cluster(written.text[start:end]), start, end) for start, end in _clusters(written.text)]
    plain = _Folded(
        "".join(part for part, _, _ in parts),
        tuple(written.starts[start] for part, start, _ in parts for _ in part),
        tuple(written.ends[end - 1] for part, _, end in parts for _ in part),
    )
    spaced = _single_spaces(plain)
    folded = spaced.reduced(fold_spaces(spaced.text))
    folded = folded.reduced(join_thousands(folded.text))
    return folded if folded.text == fold(text) else None


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each character with the marks that Unicode may compose it with."""
    start = 0
    for at in range(1, len(text)):
        if not _is_attached(text[at]):
            yield start, at
            start = at
    if text:
        yield start, len(text)


def _is_attached(character: str) -> bool:
    if character.isascii():
        return False
    first, last = _HANGUL_PARTS
    return first <= character <= last or unicodedata.combining(unicodedata.normalize("NFKD", character)[0]) != 0


def _fold_cluster(cluster: str) -> str:
    return cluster.casefold() if cluster.isascii() else nfkc(nfkc(cluster).casefold().replace("\u2212", "-"))


def _single_spaces(folded: _Folded) -> _Folded:
    """Return a text with one space for each run of white space, and none at its begin and end."""
    kept: list[int] = []
    for at, character in enumerate(folded.text):
        if not character.isspace() or (kept and not folded.text[kept[-1]].isspace()):
            kept.append(at)
    if kept and folded.text[kept[-1]].isspace():
        kept.pop()
    plain = "".join(" " if character.isspace() else character for character in folded.text)
    return replace(folded, text=plain).only(kept)
