"""Quantities in a text: numbers, units, ranges, dates and times."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.text.numerals import in_digits
from pytest_rageval.text.quantities import DATE, TIME, UNKNOWN, in_names, quantities


def bounds_and_units(text: str) -> list[tuple[float, float, str]]:
    return [(float(one.low), float(one.high), one.unit) for one in quantities(text)]


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("1,234.5", 1234.5, ""),
        ("５％", 5, "%"),
        ("百分之五", 5, "%"),
        ("5 per cent", 5, "%"),
        ("5‰", 0.5, "%"),
        ("2 percentage points", 2, "pp"),
        ("25bps", 0.25, "pp"),
        ("3.5万亿元", 3.5e12, "CNY"),
        ("5千万", 5e7, ""),
        ("1亿2000万元", 1.2e8, "CNY"),
        ("两亿", 2e8, ""),
        ("三点五亿美元", 3.5e8, "USD"),
        ("US$ 44 billion", 4.4e10, "USD"),
        ("$5m", 5e6, "USD"),
        ("5m", 5, "m or million"),
        ("5千克", 5000, "g"),
        ("3个月", 3, "months"),
        ("5 years", 60, "months"),
        ("two million five hundred thousand", 2.5e6, ""),
        ("−5%", -5, "%"),
        ("$(5.2) million", -5.2e6, "USD"),
        ("零下5度", -5, "°"),
        ("叁仟零伍拾元", 3050, "CNY"),
        ("90岁", 1080, "months"),
        ("5 mg", 0.005, "g"),
        ("5英里", 8046.72, "m"),
        ("36 km/h", 10, "m/s"),
        ("5 km2", 5e6, "m2"),
        ("5公顷", 5e4, "m2"),
        ("5毫升", 0.005, "l"),
        ("5℃", 5, "°C"),
        ("20 degrees Fahrenheit", 20, "°F"),
        ("3 cars", 3, ""),
    ],
)
def test_a_quantity_is_parsed(text: str, value: float, unit: str) -> None:
    assert bounds_and_units(text) == [(value, value, unit)]


@pytest.mark.parametrize(
    ("text", "noun"),
    [
        ("3 cars", "car"),
        ("5 million votes", "vote"),
        ("5-10 seats", "seat"),
        ("3条", "条"),
        ("5 of it", ""),
        ("5亿左右", ""),
    ],
)
def test_without_a_known_unit_the_word_after_a_number_is_its_noun(text: str, noun: str) -> None:
    assert [(one.unit, one.noun) for one in quantities(text)] == [("", noun)]


@pytest.mark.parametrize(
    "text", ["5-10%", "5% – 10%", "5%至10%", "between 5% and 10%", "介于5%和10%之间", "百分之五到百分之十"]
)
def test_a_range_is_parsed(text: str) -> None:
    assert bounds_and_units(text) == [(5, 10, "%")]


@pytest.mark.parametrize("text", ["from 5% to 7%", "5% and 7%", "从5%到7%"])
def test_two_quantities_are_not_a_range(text: str) -> None:
    assert bounds_and_units(text) == [(5, 5, "%"), (7, 7, "%")]


@pytest.mark.parametrize(
    "text",
    [
        "2023-12-29",
        "2023/12/29",
        "2023年12月29日",
        "二〇二三年十二月二十九日",
        "December 29, 2023",
        "29 Dec 2023",
        "the 29th of December, 2023",
        "2023.12.29",
    ],
)
def test_a_date_is_parsed(text: str) -> None:
    assert [(one.unit, one.date) for one in quantities(text)] == [(DATE, (2023, 12, 29))]


@pytest.mark.parametrize("text", ["15:30", "3:30 pm", "下午3点30分", "下午三点半"])
def test_a_time_of_day_is_parsed(text: str) -> None:
    assert bounds_and_units(text) == [(930, 930, TIME)]


@pytest.mark.parametrize(
    "text",
    [
        "COVID-19",
        "5G",
        "Boeing 737",
        "第三季度",
        "No. 5",
        "三星",
        "十分",
        "一个",
        "千万",
        "192.168.1.1",
        "#3",
        "大陆",
        "5th",
    ],
)
def test_numbers_in_names_and_idioms_are_not_quantities(text: str) -> None:
    assert bounds_and_units(text) == []


def test_digits_in_names_are_listed_separately() -> None:
    assert [float(one.low) for one in in_names("The 5th Boeing 737 of 7")] == [5, 737]


@pytest.mark.parametrize("before", ["据悉，", "1998年，", "成立于1998，", "8月，"])
def test_a_wide_comma_hides_no_date(before: str) -> None:
    assert (2003, 3, 5) in [one.date for one in quantities(f"{before}2003年3月5日，大桥通车")]


def test_a_wide_comma_hides_no_time_of_day() -> None:
    assert bounds_and_units("上午，9点半开门；在9：30，10：30休息") == [
        (570, 570, TIME),
        (570, 570, TIME),
        (630, 630, TIME),
    ]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("It is 5 [3][12].", [5]), ("1. It is 5\n2. Or so", [5]), ("70.", [70]), ("[70]", [70]), ("3) 5", [3, 5])],
)
def test_citations_and_list_numbers_do_not_count_next_to_other_numbers(text: str, numbers: list[int]) -> None:
    assert [one.low for one in quantities(text)] == numbers


@pytest.mark.parametrize("text", ["05/06/2023", "2010-12", "3/4", "1e5", "10^6", "1 000", "1,00,000", "9" * 50])
def test_an_ambiguous_number_is_unknown(text: str) -> None:
    assert UNKNOWN in {one.unit for one in quantities(text)}


def in_chinese(number: int) -> str:
    """Write a number below 100 million in Chinese numerals."""
    if number >= 10_000:
        rest = number % 10_000
        return in_chinese(number // 10_000) + "万" + ("零" * (0 < rest < 1000) + in_chinese(rest) if rest else "")
    numeral, gap = "", False
    for power, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = number // power % 10
        numeral += ("零" * (gap and bool(numeral)) + "零一二三四五六七八九"[digit] + name) if digit else ""
        gap = not digit
    return numeral


@given(st.integers(10, 99_999_999))
def test_chinese_numerals_have_their_value(number: int) -> None:
    assert bounds_and_units(f"共{in_chinese(number)}元") == [(number, number, "CNY")]


@given(st.integers(0, 10**12), st.integers(0, 4), st.sampled_from(["{}", "它是{}。", "about {} in all", "({}x)"]))
def test_a_number_is_the_same_in_every_format(number: int, places: int, around: str) -> None:
    value = Fraction(number, 10**places)
    digits = f"{number // 10**places}" + (f".{number % 10**places:0{places}d}" if places else "")
    grouped = f"{number // 10**places:,}" + digits[len(f"{number // 10**places}") :]
    full_width = grouped.translate({ord(c): ord(c) + 0xFEE0 for c in "0123456789.,"})

    for formatted in (digits, grouped, full_width):
        assert {abs(one.low) for one in quantities(around.format(formatted))} == {value}
    assert {one.low for one in quantities(f"{digits}万")} == {value * 10_000}
    assert {one.low for one in quantities(f"{digits} bn")} == {value * 10**9}


@given(st.text())
def test_any_text_is_parsed(text: str) -> None:
    assert quantities(text) == quantities(text)
    in_digits(text)


@pytest.mark.parametrize(
    "piece", ["1,", "1,111", "9", "1.", "(", "二", "万", "two ", "hundred ", "2023-", "1 to ", "$", "- ", "May ", "1/"]
)
def test_parsing_takes_linear_time(piece: str) -> None:
    def seconds(count: int) -> float:
        begin = time.process_time()
        quantities(f"5{piece * count}")
        quantities(f"two {piece * count}")
        return time.process_time() - begin

    seconds(100)
    assert seconds(10_000) < 40 * max(seconds(1_000), 0.002)


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("€2 $3", ["EUR", "USD"]),
        ("€2$3", ["EUR", "USD"]),
        ("2 €3", ["", "EUR"]),
        ("2 US$3", ["", "USD"]),
        ("5$ 6", ["USD", ""]),
        ("3.50€", ["EUR"]),
    ],
)
def test_a_currency_symbol_before_a_digit_belongs_to_that_number(text: str, units: list[str]) -> None:
    assert [one.unit for one in sorted(quantities(text), key=lambda one: one.low)] == units
