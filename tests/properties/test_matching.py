"""Laws of matching aliases and numbers in texts."""

from __future__ import annotations

import random
import re
import sys
import unicodedata
from decimal import Decimal

from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_rageval.metrics.shared.matching import contains, fold, meets, occurrences, slot_hits

ANY_TEXT = st.text(st.characters(exclude_categories=()))
PADS = st.text("aZß É-_()/.,;。，“中文 \t\n")
ALIASES = st.text("aZß É-_/.,%。中文 強Ａ0１2345").filter(fold)
DENSE_TEXTS = st.text("11 0.,,-a强", max_size=30)


def numbers(text: str) -> list[re.Match[str]]:
    result = list(
        re.finditer(r"\d+(?:\.\d+){2,}|\d{1,3}(?:,\d{3}(?!\d))+(?:\.\d+)?|\d+(?:\.\d+)?|(?<![^\W_])(?<!\.)\.\d+", text)
    )
    dates = [number for number in result if number[0].count(".") > 1]
    parts = [part for date in dates for part in re.compile(r"\d+").finditer(text, *date.span())]
    return [number for number in result if number not in dates] + parts


def minus(text: str, number: re.Match[str]) -> int:
    """Return the start of a number in a text without units: before its hyphen if the hyphen joins nothing."""
    hyphen = number.start() - 1
    joins = hyphen >= 1 and (text[hyphen - 1].isalnum() or text[hyphen - 1] == "-")
    return hyphen if hyphen >= 0 and text[hyphen] == "-" and not joins else number.start()


def occurrences_by_definition(text: str, alias: str) -> list[int]:
    spans = [(minus(text, number), number.end()) for number in numbers(text)]
    negative = any(minus(alias, number) == 0 < number.start() for number in numbers(alias))
    return [
        start
        for start in range(len(text))
        if text.startswith(alias, start)
        and not any(begin < start < end or begin < start + len(alias) < end for begin, end in spans)
        and (not negative or any(begin == start and text[begin] == "-" for begin, _ in spans))
    ]


@given(PADS, ALIASES, PADS)
def test_an_alias_between_texts_without_digits_is_contained(before: str, alias: str, after: str) -> None:
    assume(not re.search(r"\.\d", before + alias))
    assume(not (re.search(r"-\s*\Z", before) and re.match(r"\s*\d", alias)))  # a minus
    assume(not re.match(r"\s*-\d", alias) or not before.strip())
    assert contains(before + alias + after, alias)


@given(DENSE_TEXTS, st.text("10.,-a强", min_size=1, max_size=4))
def test_occurrences_are_those_of_the_definition(text: str, alias: str) -> None:
    haystack, needle = fold(text), fold(alias)
    assume(needle)
    assert list(occurrences(text, alias)) == occurrences_by_definition(haystack, needle)


@given(st.integers(0, 3000), st.integers(0, 3000), st.sampled_from(["{} seats", "共{}席", "({})", "x{}.", "{:,} of"]))
def test_a_whole_number_matches_only_the_same_number(number: int, other: int, frame: str) -> None:
    text = frame.format(number)
    assert contains(text, f"{other:,}" if "," in text else str(other)) == (number == other)


DECIMALS = st.decimals(-99999, 99999, places=2)
FORMATS = st.sampled_from(["{}", "{:,}", "{:.2f}", "{:,.2f}", "{:.3f}"])


@given(DECIMALS, FORMATS, DECIMALS, FORMATS, st.sampled_from(["-", "\u2212"]), st.booleans())
def test_a_number_matches_only_itself_in_any_notation(
    number: Decimal, number_format: str, alias: Decimal, alias_format: str, sign: str, same: bool
) -> None:
    alias = number if same else alias
    text = f"It changed by {number_format.format(number)} in all".replace("-", sign)
    assert contains(text, alias_format.format(alias)) == (number == alias)


@given(ANY_TEXT)
def test_fold_is_idempotent(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_fold_is_idempotent_on_every_character() -> None:
    every = [c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c) not in ("Cn", "Co")]
    assert [c for c in every if (folded := fold.__wrapped__(c)) != fold.__wrapped__(folded)] == []


@given(ANY_TEXT, ANY_TEXT)
def test_a_match_stays_a_match_after_folding(text: str, alias: str) -> None:
    assert list(occurrences(text, alias)) == list(occurrences(fold(text), fold(alias)))


@given(DENSE_TEXTS, st.text("abcXYZ 12é中", max_size=4), st.integers())
def test_case_and_spacing_do_not_matter(text: str, alias: str, seed: int) -> None:
    text += alias
    draw = random.Random(seed)
    other = "".join(draw.choice("\t\n \u3000") * draw.randint(1, 3) if c == " " else c for c in text)
    assert contains(f" {other.swapcase()}\n", f"  {alias.upper()} ") == contains(text, alias)


@given(st.lists(st.lists(ALIASES, min_size=1, max_size=3).map(tuple), min_size=1, max_size=4).map(tuple), PADS)
def test_an_answer_with_one_alias_of_each_slot_meets_all_slots(gold: tuple[tuple[str, ...], ...], pad: str) -> None:
    text = f" {pad}; ".join(slot[-1] for slot in gold)
    assert meets(gold, text)
    assert all(hit in slot for hit, slot in zip(slot_hits(gold, text), gold, strict=True))
