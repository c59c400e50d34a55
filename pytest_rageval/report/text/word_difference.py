"""Compare two answers word by word, and mark the removed and added words."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

from pytest_rageval.errors import ascii_safe
from pytest_rageval.report.text.fit_text import cut
from pytest_rageval.report.text.lines import Line, Mark

__all__ = ["Kind", "Piece", "difference_line", "excerpt", "new_side", "old_side", "word_difference"]

Kind = Literal["same", "removed", "added"]

BUDGET = 300_000
"""Pairs of words to compare in detail, which bounds the time; words beyond it count as replaced."""

SMALL = 2_500
"""Number of pairs up to which a range is always compared in detail, without using the budget."""

MAX_DEPTH = 40
"""Maximum nesting of ranges between unique words; real texts need about five."""

CONTEXT = 16
"""Columns of unchanged text to show before the first change of an excerpt."""

ELLIPSIS = "..."

_SIGNS = {"removed": ("[-", "-]"), "added": ("{+", "+}"), "same": ("", "")}

_HAN_AND_KANA = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(rf"(?:[{_HAN_AND_KANA}]|[^\W{_HAN_AND_KANA}]+|[^\w\s])\s*|\s+")
"""A word, a Chinese character or a punctuation mark, with the white space after it."""


class Piece(NamedTuple):
    """A part of two compared texts: in both (``same``), in the old one (``removed``) or in the new one (``added``)."""

    kind: Kind
    text: str


def word_difference(old: str, new: str) -> list[Piece]:
    """Return the difference of two texts as pieces in order; a removed piece comes before the one that replaces it.

    Chinese is compared by characters, other text by words. White space is not compared: ``same`` pieces have the white
    space of the new text, so that ``same`` and ``added`` pieces together are the new text.

    Words that occur once in each text are aligned first. The words between them are compared in detail up to `BUDGET`
    pairs; words beyond it count as replaced.
    """
    before, after = _WORD.findall(old), _WORD.findall(new)
    pieces: list[Piece] = []
    old_end = new_end = 0  # indexes after the last run
    removed = added = ""
    for i, j, length in _runs([word.strip() for word in before], [word.strip() for word in after]):
        removed += "".join(before[old_end:i])
        added += "".join(after[new_end:j])
        old_end, new_end = i + length, j + length
        same = "".join(after[j:new_end])
        is_last = (old_end, new_end) == (len(before), len(after))
        if (removed or added) and not is_last and _is_too_short(same):
            removed, added = removed + "".join(before[i:old_end]), added + same
            continue
        pieces += [Piece("removed", removed), Piece("added", added)]
        removed = added = ""
        if length and not is_last:  # the space after the run may differ
            stripped, last_word = same.rstrip(), before[old_end - 1]
            removed, added, same = last_word[len(last_word.rstrip()) :], same[len(stripped) :], stripped
            if removed == added:
                removed, added, same = "", "", same + added
        pieces.append(Piece("same", same))
    return [piece for piece in pieces if piece.text]


def old_side(pieces: Iterable[Piece]) -> list[Piece]:
    """Return the pieces of the old text; an empty ``removed`` piece marks each place of an addition."""
    return [Piece("removed", "") if piece.kind == "added" else piece for piece in pieces]


def new_side(pieces: Iterable[Piece]) -> list[Piece]:
    """Return the pieces of the new text; an empty ``added`` piece marks each place of a removal."""
    return [Piece("added", "") if piece.kind == "removed" else piece for piece in pieces]


def excerpt(pieces: Sequence[Piece], columns: int, *, signs: bool = False) -> list[Piece]:
    """Return the pieces around the first change, cut to a number of columns on one line, with ellipses where cut.

    Wide characters (Chinese) take two columns. Line breaks become spaces.

    Args:
        pieces: a whole difference, or the `old_side` or `new_side` of one.
        columns: the largest width of the result.
        signs: whether to leave room for the signs of `difference_line`.
    """
    flat = [Piece(kind, ascii_safe(re.sub(r"\s+", " ", text))) for kind, text in pieces]
    sign_columns = sum(len("".join(_SIGNS[kind])) for kind, text in flat if text) if signs else 0
    if _fits("".join(text for _, text in flat), columns - sign_columns):
        return [piece for piece in flat if piece.text]
    first = next((at for at, piece in enumerate(flat) if piece.kind != "same"), 0)
    head = "".join(piece.text for piece in flat[:first])
    context = _end_of(head, min(CONTEXT, columns // 3))
    free = columns - _width(context)
    shown = [Piece("same", context)] if context else []
    rest = flat[first:]
    for at, (kind, text) in enumerate(rest):
        room = free - (len("".join(_SIGNS[kind])) if signs and text else 0)
        is_last = not any(each.text for each in rest[at + 1 :])
        if not _fits(text, room - (0 if is_last else len(ELLIPSIS))):
            part = cut(text, max(0, room - len(ELLIPSIS))).rstrip()
            shown += [Piece(kind, part)] if part else []
            shown.append(Piece("same", ELLIPSIS if free >= len(ELLIPSIS) else ""))
            break
        shown += [Piece(kind, text)] if text else []
        free = room - _width(text)
    return [piece for piece in shown if piece.text]


def difference_line(pieces: Iterable[Piece], before: str = "") -> Line:
    """Return a difference as a line that starts with ``before``: ``[-removed-]`` in red, ``{+added+}`` in green.

    A terminal with colours also gets the signs, because not everybody can tell red from green.
    """
    text, marks = before, []
    for kind, words in pieces:
        opening, closing = _SIGNS[kind]
        stripped = words.rstrip() if kind != "same" else words
        start = len(text)
        text += f"{opening}{stripped}{closing}"
        if kind != "same":
            marks.append(Mark(start, len(text), "red" if kind == "removed" else "green"))
        text += words[len(stripped) :]
    return Line(text, "", tuple(marks))


def _runs(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Yield the runs of matching words as (index in old, index in new, length); the last one is empty."""
    start = end = length = 0
    for i, j, size in (*_Matches(old, new).between(0, len(old), 0, len(new)), (len(old), len(new), 0)):
        if (i, j) == (start + length, end + length):
            length += size
            continue
        if length:
            yield start, end, length
        start, end, length = i, j, size
    yield start, end, length


class _Matches:
    """Aligns the words of two texts; the detailed comparison stays within `BUDGET`."""

    def __init__(self, old: Sequence[str], new: Sequence[str]) -> None:
        self._old = old
        self._new = new
        self._budget = BUDGET

    def between(self, i: int, i_end: int, j: int, j_end: int, depth: int = 0) -> Iterator[tuple[int, int, int]]:
        """Yield the runs of matching words in ``old[i:i_end]`` and ``new[j:j_end]``, in order."""
        old, new = self._old, self._new
        start = i
        while i < i_end and j < j_end and old[i] == new[j]:
            i, j = i + 1, j + 1
        yield start, j - (i - start), i - start
        end = i_end
        while i_end > i and j_end > j and old[i_end - 1] == new[j_end - 1]:
            i_end, j_end = i_end - 1, j_end - 1
        pairs = (i_end - i) * (j_end - j)
        if 0 < pairs <= SMALL:
            yield from self._in_detail(i, i_end, j, j_end)
        elif pairs:
            anchors = self._anchors(i, i_end, j, j_end) if depth < MAX_DEPTH else []
            if not anchors and pairs <= self._budget:
                self._budget -= pairs
                yield from self._in_detail(i, i_end, j, j_end)
            for at, to in (*anchors, (i_end, j_end)) if anchors else ():
                yield from self.between(i, at, j, to, depth + 1)
                i, j = at, to  # the anchor itself begins the next range
        yield i_end, j_end, end - i_end

    def _in_detail(self, i: int, i_end: int, j: int, j_end: int) -> Iterator[tuple[int, int, int]]:
        matcher = SequenceMatcher(None, self._old[i:i_end], self._new[j:j_end], autojunk=False)
        return ((i + a, j + b, size) for a, b, size in matcher.get_matching_blocks() if size)

    def _anchors(self, i: int, i_end: int, j: int, j_end: int) -> list[tuple[int, int]]:
        """Return the (old, new) indexes of words that occur once in each range and have the same order in both."""
        old_counts, new_counts = Counter(self._old[i:i_end]), Counter(self._new[j:j_end])
        places = {self._new[to]: to for to in range(j, j_end)}
        words = ((at, self._old[at]) for at in range(i, i_end))
        return _longest_increasing(
            [(at, places[word]) for at, word in words if old_counts[word] == new_counts[word] == 1]
        )


def _longest_increasing(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest subsequence of pairs with increasing second numbers; the first numbers increase already."""
    ends: list[int] = []  # the smallest last number of a subsequence of each length
    lasts: list[int] = []  # the index of that number
    before: list[int] = []  # the index of the previous pair in the subsequence, or -1
    for at, (_, value) in enumerate(pairs):
        length = bisect_left(ends, value)
        ends[length : length + 1] = [value]
        lasts[length : length + 1] = [at]
        before.append(lasts[length - 1] if length else -1)
    increasing: list[tuple[int, int]] = []
    at = lasts[-1] if lasts else -1
    while at >= 0:
        increasing.append(pairs[at])
        at = before[at]
    return increasing[::-1]


def _is_too_short(same: str) -> bool:
    """Return whether an unchanged text between two changes is too short to help: up to three letters, no digit.

    One Chinese character, which has three bytes, is too short as well.
    """
    return len(same.strip().encode("utf-8", "replace")) <= 3 and not any(char.isdigit() for char in same)


def _end_of(text: str, columns: int) -> str:
    """Return the last words of a text that fit into ``columns``, after an ellipsis if it is cut."""
    if _fits(text, columns):
        return text
    words = _WORD.findall(text[-columns:])
    end = ""
    while words and _width(words[-1] + end) < columns - len(ELLIPSIS):
        end = words.pop() + end
    return f"{ELLIPSIS} {end}" if columns > len(ELLIPSIS) else ""


def _fits(text: str, columns: int) -> bool:
    """Return whether a text fits into ``columns``."""
    return cut(text, columns) == text


def _width(text: str) -> int:
    """Return the columns of a text, measured like `cut`."""
    from wcwidth import wcwidth

    return sum(max(0, wcwidth(char)) for char in text)
