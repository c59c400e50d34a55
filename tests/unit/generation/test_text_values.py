"""Values in sentences that a rule can ask for, with their positions, kinds and units."""

from __future__ import annotations

import pytest

from pytest_rageval.generation.text_rules.listed_names import ListedNames
from pytest_rageval.generation.text_rules.values import values_in

VALUES = [
    (
        "A single ticket costs 3 crowns and is valid for 75 minutes.",
        [("3", "number", "crowns"), ("75", "number", "minutes")]),
    ("The museum opens at 9:30 on weekdays.", [("9:30", "time", "")]),
    ("The Orchard Tram was opened in 1931 and climbs to Pear Hill.", [("1931", "date", "")]),
    ("Ann Lee was born on 5 March 1921.", [("5 March 1921", "date", "")]),
    ("A Day in Town is a 1964 drama film.", [("1964", "date", "")]),
    ("The bridge cost $2.5 million.", [("$2.5 million", "money", "$")]),
    ("It has 5 million monthly users.", [("5 million", "number", "monthly users")]),
    ("Turnout was 62.5% of voters.", [("62.5%", "number", "%")]),
    ("单程票3克朗，75分钟内有效。", [("3", "number", "克朗"), ("75", "number", "分钟")]),
    ("大桥于2001年10月通车，总投资1.5亿元。", [("2001年10月", "date", ""), ("1.5亿", "money", "元")]),
    ("磨坊线的首班电车5:35发车。", [("5:35", "time", "")]),
]  # fmt: skip

TEXTS_WITHOUT_VALUES = [
    "The Boeing 737 lands at Gate 12.",  # names
    "Nadal is No. 1 and 2 since then.",
    "Chapter 3 opens the book.",
    "The Huskies won 3-0 at home.",  # a score
    "The screen shows 2000×2040 points.",  # a resolution
    "Exit status 1 means failure.",  # not a count
    "选手以1分52秒87游完全程。",  # a composite time
    "年增幅自20世纪90年代起放缓。",  # decades
]


@pytest.mark.parametrize(("text", "expected"), VALUES)
def test_values_have_their_kinds_and_units(text: str, expected: list[tuple[str, str, str]]) -> None:
    values = values_in(text)
    assert [(value.text, value.kind, value.unit) for value in values] == expected
    assert all(text[value.start : value.end] == value.text for value in values)


@pytest.mark.parametrize("text", TEXTS_WITHOUT_VALUES)
def test_digits_that_are_no_quantity_are_not_values(text: str) -> None:
    assert values_in(text) == []


def test_listed_names_are_values() -> None:
    values = values_in("Oslo House is in Bergen, not in Bergenhus; 梨山在东边。", ListedNames(["Bergen", "梨山", "梨"]))
    assert [(value.text, value.start, value.kind) for value in values] == [("Bergen", 17, "name"), ("梨山", 43, "name")]


def test_values_compare_by_group_and_order() -> None:
    first, second = values_in("A day pass costs 9 crowns. A week pass costs 31 crowns.")
    assert first.group == second.group
    assert first.order < second.order
    length, speed = values_in("全长250米，最快每秒12米，设计时速80公里。")[0], values_in("时速200公里，全长46公里。")
    assert length.kind == "number"
    assert speed[0].group != speed[1].group
