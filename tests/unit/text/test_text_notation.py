"""Normalization of thousands separators, wide commas and minus signs."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.text.notation import join_thousands, join_wide_thousands, mark_negatives, split_wide_commas


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("1,577", "1577"),
        ("12,345,678.9", "12345678.9"),
        ("2021,2022", "2021,2022"),
        ("2021,300", "2021,300"),
        ("1,23", "1,23"),
        ("1,2345", "1,2345"),
        ("0.5,300", "0.5,300"),
        ("1, 234", "1, 234"),
        ("a,234", "a,234"),
    ],
)
def test_commas_between_thousands_are_removed(text: str, joined: str) -> None:
    assert join_thousands(text) == joined


@given(st.lists(st.integers(0, 10**15), min_size=1, max_size=4))
def test_thousands_separators_of_python_are_removed(numbers: list[int]) -> None:
    assert join_thousands(" ".join(f"{each:,}" for each in numbers)) == " ".join(map(str, numbers))


@pytest.mark.parametrize(
    ("text", "split"),
    [
        ("据悉，2019年3月", "据悉;2019年3月"),
        ("成立于1998，2003年上市", "成立于1998;2003年上市"),
        ("１，５７７，８８８", "１，５７７，８８８"),
        ("1，577万元，12人", "1，577万元;12人"),
        ("2008，100，200", "2008;100;200"),
        ("70，1700", "70;1700"),
        ("1,577", "1,577"),
    ],
)
def test_a_wide_comma_becomes_a_semicolon_except_between_thousands(text: str, split: str) -> None:
    assert split_wide_commas(text) == split


@pytest.mark.parametrize("space", ["\u00a0", "\u2007", "\u2009", "\u202f"])
def test_wide_spaces_between_thousands_are_removed(space: str) -> None:
    assert join_wide_thousands(f"12{space}345{space}678 é") == "12345678 é"
    assert join_wide_thousands(f"2021{space}345é") == f"2021{space}345é"
    assert join_wide_thousands(f"5{space}% é") == f"5{space}% é"


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("-5%", "~5%"),
        ("fell by -5.5 and –6", "fell by ~5.5 and ~6"),
        ("-$5, $-5, -¥ 5", "$~5, $~5, ¥~5"),
        ("$(5) and (5.2)%", "$~5 and ~5.2%"),
        ("负5, 零下5度", "~5, ~5度"),
        ("minus 5, negative us$ 5", "~5, us$~5"),
        ("同比-5%", "同比~5%"),
    ],
)
def test_negative_numbers_are_marked(text: str, marked: str) -> None:
    assert mark_negatives(text, "~") == marked


@pytest.mark.parametrize(
    "text",
    [
        "5 and +5",
        "60-70",
        "5%-10%",
        "5$-10$",
        "covid-19",
        "歼-20",
        "3月-5月",
        "5亿-8亿元",
        "2022-10-13",
        "f(x)-5",
        "+/-5",
        "--5",
        "- 5",
        "(5)",
        "seats (5%)",
        "10 minus 5",
        "胜3负5",
        "aminus 5",
        "-",
        "",
    ],
)
def test_a_hyphen_that_is_no_minus_sign_stays(text: str) -> None:
    assert mark_negatives(text, "~") == text


@given(st.text("-–(5)$%负 a.6", max_size=12))
def test_only_minus_signs_of_numbers_are_marked(text: str) -> None:
    marked = mark_negatives(text, "~")
    assert all(re.match(r"~\d", marked[at:]) for at, character in enumerate(marked) if character == "~")
    assert [c for c in marked if c.isdigit()] == [c for c in text if c.isdigit()]
