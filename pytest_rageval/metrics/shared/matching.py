"""Find aliases in a text after folding; numbers are compared as numbers."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache

from pytest_rageval.model.case import Gold
from pytest_rageval.text.language import CJK
from pytest_rageval.text.notation import LONGEST_SIGN, join_thousands, join_wide_thousands, negative_span
from pytest_rageval.text.unicode import nfkc

__all__ = ["contains", "fold", "fold_spaces", "meets", "occurrences", "slot_hits"]

_SPACE_AT_HAN = f"(?<=[{CJK}]) | (?=[{CJK}])"  # `re` compiles it for the first text that is not ASCII
_DIGITS = re.compile(r"\d+")
_MAX_LENGTH_IN_WORDS = 40  # characters of an alias that may state a number in words
_NO_NUMBERS = array("L"), array("L")
_NUMBER = re.compile(
    r"""
      (?P<chain>(?:19|20)\d\d(?:\.\d+){2,}(?!\.?\d)  # 2022.1.3: parts of a date
      |   \d+(?:\.\d+)+\.(?:19|20)\d\d(?!\.?\d))
    | \d+(?:\.\d+){2,}                             # 3.11.2 and 192.168.1.1
    | (?<![\d/.,])\d{1,3}[/\u2044]\d{1,3}(?![\d/.,\u2044]*\d) # 1/4
    | \d{1,3}(?:,\d{3}(?!\d))+(?:\.\d+)?            # 12,345.6
    | \d+(?:\.\d+)?                                 # 70 and 70.5
    | (?<![^\W_])(?<!\.)\.\d+                       # .70, but not after a letter or in an ellipsis
    | (?<=\d)[百千万亿]{2,}                         # 万亿 after a number is one word
    """,
    re.VERBOSE,
)


def fold_spaces(text: str) -> str:
    """Return ``text`` trimmed, with single spaces, and no space next to a Han character."""
    single = text.strip() if text.isprintable() and text.isascii() and "  " not in text else " ".join(text.split())
    return single if single.isascii() or " " not in single else re.sub(_SPACE_AT_HAN, "", single)


@lru_cache(maxsize=32)
def fold(text: str) -> str:
    """Return a text in the form in which texts are compared; folding it again changes nothing.

    Folding applies NFKC, folds case and spaces (`fold_spaces`), removes separators of thousands (1,577 becomes 1577)
    and writes U+2212 as a hyphen.
    """
    if text.isascii():
        return join_thousands(fold_spaces(text.casefold()))
    casefolded = nfkc(join_wide_thousands(text)).casefold().replace("\u2212", "-")
    return join_thousands(fold_spaces(nfkc(casefolded)))


def occurrences(text: str, alias: str) -> Iterator[int]:
    """Yield the offset of each occurrence of ``alias`` in ``fold(text)``; the alias is folded too.

    An occurrence must not split a number of the text, so neither its start nor its end is inside a number. A number is
    a run of digits with its decimals (``70.5``) and its minus (`notation.negative_span`), a fraction
    (``1/4``) or a version (``3.11.2``); in a date (``2022.1.3``) every part is one number. A number may start
    with its decimal point (``.70``) unless a letter, digit or dot precedes it. So 70 is not in 170, 70.5, .70 or -70,
    2.3% is not in 12.3%, 4 is not in 1/4, 3.11 is not in 3.11.2, 8强 is not in 18强, 5万 is not in 5万亿, and 70 is in
    "It was 70.", "60-70" and "(70)". As in RGB, a colon separates numbers, so 10:30 is in 10:30:15; and words may be
    split: "art" is in "party". An empty alias never occurs.
    """
    return _occurrences(fold(text), fold(alias))


def _occurrences(haystack: str, needle: str) -> Iterator[int]:
    """Yield the offset of each occurrence of ``needle`` in ``haystack``; both are folded already."""
    position = haystack.find(needle) if needle else -1
    if position < 0:
        return
    if not _numbers(haystack)[0]:  # there is no number to split
        while position >= 0:
            yield position
            position = haystack.find(needle, position + 1)
    negative = _is_negative(needle)
    while position >= 0:
        end = position + len(needle)
        skip = max(_past_number(haystack, position) - position, _past_number(haystack, end) - end)
        if not skip and (not negative or _starts_negative(haystack, position)):
            yield position
        position = haystack.find(needle, position + max(skip, 1))


def contains(text: str, alias: str) -> bool:
    """Return whether the alias occurs in the text (`occurrences`), or is a quantity that the text states.

    A quantity is a number with its unit and nothing else (`same_quantity.states`): "$1577.00" is in "$1,577 million",
    "5%" in "5 percent", "1.2bn" in "1,200 million", "two" in "2 museums".
    """
    haystack, needle = fold(text), fold(alias)
    if needle in haystack and next(_occurrences(haystack, needle), None) is not None:
        return True
    if not _has_number(alias):
        return False
    from pytest_rageval.metrics.shared.same_quantity import states  # its patterns take time to compile

    return states(text, alias)


def slot_hits(gold: Gold, *texts: str) -> tuple[str | None, ...]:
    """Return for each slot its first alias that one of the texts contains, or None.

    The latest result is cached, because several metrics of a case need the same one.
    """
    global _last_hits
    cached_gold, cached_texts, hits = _last_hits
    if cached_gold is gold and cached_texts == texts:
        return hits
    hits = _slot_hits(gold, texts)
    _last_hits = gold, texts, hits
    return hits


_last_hits: tuple[Gold | None, tuple[str, ...], tuple[str | None, ...]] = (None, (), ())


def _slot_hits(gold: Gold, texts: tuple[str, ...]) -> tuple[str | None, ...]:
    return tuple([_first_hit(slot, texts) for slot in gold])


def _first_hit(slot: tuple[str, ...], texts: tuple[str, ...]) -> str | None:
    for alias in slot:
        for text in texts:
            if contains(text, alias):
                return alias
    return None


def meets(gold: Gold, text: str) -> bool:
    """Return whether ``text`` contains an alias of every slot; True if there are no slots."""
    return None not in slot_hits(gold, text)


@lru_cache(maxsize=256)
def _has_number(alias: str) -> bool:
    """Return whether an alias has a number, in digits or in words."""
    if _DIGITS.search(alias) is not None:
        return True
    from pytest_rageval.text.numerals import in_digits  # its patterns take time to compile

    return len(alias) <= _MAX_LENGTH_IN_WORDS and _DIGITS.search(in_digits(alias)) is not None


@lru_cache(maxsize=256)
def _is_negative(needle: str) -> bool:
    """Return whether a folded alias begins with a negative number."""
    return _starts_negative(needle, 0)


def _starts_negative(text: str, position: int) -> bool:
    """Return whether a number with a minus begins at ``position`` of a folded text."""
    starts, ends = _numbers(text)
    at = bisect_left(starts, position)
    return at < len(starts) and negative_span(text, starts[at], ends[at])[0] == position < starts[at]


def _past_number(text: str, position: int) -> int:
    """Return the end of the number that ``position`` is inside of, or ``position`` itself if there is none."""
    starts, ends = _numbers(text)
    after = bisect_left(starts, position)
    before = after - 1
    if before >= 0 and position <= ends[before]:
        end = ends[before] if position < ends[before] else negative_span(text, starts[before], position)[1]
        if end > position:
            return end
    if after < len(starts) and starts[after] - position <= LONGEST_SIGN:
        start, end = negative_span(text, starts[after], ends[after])
        if start < position:
            return end
    return position


@lru_cache(maxsize=8)
def _numbers(text: str) -> tuple[array[int], array[int]]:
    """Return the starts and the ends of the numbers of ``text`` in order, without their minus."""
    if _DIGITS.search(text) is None:
        return _NO_NUMBERS
    starts, ends = array("L"), array("L")
    for match in _NUMBER.finditer(text):
        for part in _DIGITS.finditer(text, *match.span()) if match["chain"] else (match,):
            starts.append(part.start())
            ends.append(part.end())
    return starts, ends
