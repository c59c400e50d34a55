"""Whether a text says an alias: containment after folding, which never cuts a number in two."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache

from pytest_rageval.model.case import Gold
from pytest_rageval.text.language import CJK
from pytest_rageval.text.unicode import nfkc

__all__ = ["contains", "fold", "fold_spaces", "meets", "occurrences", "slot_hits"]

_SPACE_AT_HAN = f"(?<=[{CJK}]) | (?=[{CJK}])"  # compiled, by re, when the first text is not ASCII
_DIGITS = re.compile(r"\d+")
_NUMBER = re.compile(
    r"""
      (?P<chain>\d+(?:\.\d+){2,})                   # 2022.1.3: every part is a number of its own
    | \d{1,3}(?:,\d{3}(?!\d))+(?:\.\d+)?            # 12,345.6
    | \d+(?:\.\d+)?                                 # 70 and 70.5
    | (?<![^\W_])(?<!\.)\.\d+                       # .70, but not after a letter or in an ellipsis
    """,
    re.VERBOSE,
)


def fold_spaces(text: str) -> str:
    """Return ``text`` trimmed, with each run of white space as one space, and none beside a Han character."""
    single = " ".join(text.split())
    return single if single.isascii() or " " not in single else re.sub(_SPACE_AT_HAN, "", single)


@lru_cache(maxsize=32)
def fold(text: str) -> str:
    """Return the form in which texts are compared: NFKC, case folded, spaces folded. Folding twice changes nothing."""
    return fold_spaces(nfkc(nfkc(text).casefold()))


def occurrences(text: str, alias: str) -> Iterator[int]:
    """Yield where ``alias`` occurs, as offsets into ``fold(text)``; both are folded first.

    An occurrence may not cut a number of the text in two: no number strictly contains its start or its end.
    A number is a run of digits, with groups of thousands (``12,345``) and decimals (``70.5``) where it has them;
    in a chain with two dots or more (``2022.1.3``) every part is a number of its own. It may start with its decimal
    point (``.70``) where that follows no letter, digit or dot. So 70 is not in 170, 70.5 or .70, 2.3% is not in 12.3%,
    8强 is not in 18强, and 70 is in "It was 70.". Signs, units and letters draw no boundary: "art" is in "party", as in
    RGB. An empty alias never occurs.
    """
    haystack, needle = fold(text), fold(alias)
    position = haystack.find(needle) if needle else -1
    while position >= 0:
        end = position + len(needle)
        skip = max(_past_number(haystack, position) - position, _past_number(haystack, end) - end)
        if not skip:
            yield position
        position = haystack.find(needle, position + max(skip, 1))


def contains(text: str, alias: str) -> bool:
    """Return whether ``alias`` occurs in ``text`` (see `occurrences`)."""
    return next(occurrences(text, alias), None) is not None


def slot_hits(gold: Gold, text: str) -> tuple[str | None, ...]:
    """Return for each slot the first of its aliases that ``text`` contains, or None where it contains none."""
    return tuple(next((alias for alias in slot if contains(text, alias)), None) for slot in gold)


def meets(gold: Gold, text: str) -> bool:
    """Return whether ``text`` contains an alias of every slot; True for no slots."""
    return None not in slot_hits(gold, text)


def _past_number(text: str, position: int) -> int:
    """Return the end of the number that strictly contains ``position``, or ``position`` when none does."""
    starts, ends = _numbers(text)
    before = bisect_left(starts, position) - 1
    return ends[before] if before >= 0 and position < ends[before] else position


@lru_cache(maxsize=8)
def _numbers(text: str) -> tuple[array[int], array[int]]:
    """Return where the numbers of ``text`` start and where they end, in order."""
    starts, ends = array("L"), array("L")
    for match in _NUMBER.finditer(text):
        for part in _DIGITS.finditer(text, *match.span()) if match["chain"] else (match,):
            starts.append(part.start())
            ends.append(part.end())
    return starts, ends
