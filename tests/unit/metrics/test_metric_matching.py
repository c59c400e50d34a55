from __future__ import annotations

import pytest
from support.samples.metric_samples import slots

from pytest_rageval.metrics.shared.matching import contains, fold, meets, occurrences, slot_hits


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("  Paris \t\n in   Spring ", "paris in spring"),
        ("ＰＡＲＩＳ　２０２４", "paris 2024"),
        ("Straße", "strasse"),
        ("ﬁnance", "finance"),
        ("2023 年 净利润 5 亿元", "2023年净利润5亿元"),
        ("iPhone 14 发布", "iphone 14发布"),
        ("1,577,000 and 2021,2022", "1577000 and 2021,2022"),
        ("1\u00a0577, 1\u2009577\u202f000", "1577, 1577000"),
        ("\u22125%", "-5%"),
        ("", ""),
        (" \u3000\n", ""),
    ],
)
def test_fold_normalises_case_width_spaces_and_numbers(text: str, folded: str) -> None:
    assert fold(text) == folded


@pytest.mark.parametrize(
    ("text", "alias"),
    [
        ("It is PARIS.", "paris"),
        ("the  United\nStates", "United States"),
        ("seats: 70.", "70"),
        ("seats: 70, or so", "70"),
        ("70% of them", "70"),
        ("between 60-70", "70"),
        ("a 70kg man", "70"),
        ("B70", "70"),
        ("in 2022.1.3 it", "2022"),
        ("in 2022.1.3 it", "1.3"),
        ("in 2022.1.3 it", "2022.1"),
        ("on 2022.1.3.", "1.3"),
        ("on 3.1.2022", "2022"),
        ("3.11.2", "3.11.2"),
        ("on 9/11", "9/11"),
        ("at 10:30:15", "10:30"),
        ("2019/20", "2019"),
        ("on 05/06/2023", "2023"),
        ("1,234.5 points", "1,234.5"),
        ("years 2021,2022", "2022"),
        ("2021,300人", "2021"),
        ("170 and then 70", "70"),
        ("他进入８强", "8强"),
        ("18强和8强", "8强"),
        ("北 京", "北京"),
        ("a party", "art"),
        ("３．５", "3.5"),
        ("It rose by .70", ".70"),
        ("It rose.70 people", "70"),
        ("about...70 people", "70"),
        ("$1,577 million", "1577"),
        ("1577 people", "1,577"),
        ("1,577,000", "1577000"),
        ("70 - 80%", "80%"),
        ("5%-10%", "10%"),
        ("- 5% more", "5%"),
        ("GPT-4", "4"),
        ("10 minus 5", "5"),
        ("3月-5月", "5月"),
        ("歼-20战机", "20"),
        ("胜3负5", "5"),
        ("rows (70)", "70"),
        ("-5% to 5%", "5%"),
        ("\u22125%", "-5%"),
        ("同比-5%", "-5%"),
        ("+5%", "5%"),
    ],
)
def test_a_text_contains_an_alias(text: str, alias: str) -> None:
    assert contains(text, alias)


@pytest.mark.parametrize(
    ("text", "alias"),
    [
        ("There are 170 seats", "70"),
        ("There are 70.5 of them", "70"),
        ("There are 70.5 of them", "5"),
        ("上涨12.3%", "2.3%"),
        ("他进入18强", "8强"),
        ("1,070 seats", "70"),
        ("1,070 seats", "1"),
        ("12,345.6", "345"),
        ("in 2022.10.3", "2022.1"),
        ("700", "70"),
        ("７００", "70"),
        ("It rose by .70", "70"),
        ("(.70)", "70"),
        (".70", "70"),
        ("-5%", "5%"),
        ("\u22125%", "5%"),
        ("a change of \u20135%", "5%"),
        ("-$5.2", "$5.2"),
        ("-$5.2", "5.2"),
        ("$-5.2", "5.2"),
        ("$(1,577)", "1577"),
        ("(5.2)%", "5.2"),
        ("minus 5 degrees", "5 degrees"),
        ("同比-5%", "5%"),
        ("负5%", "5%"),
        ("零下5度", "5度"),
        ("3-5%", "-5%"),
        ("5%", "-5%"),
        ("5万亿", "5万"),
        ("5", "5%"),
        ("0.05", "5%"),
        ("5万元", "5元"),
        ("5 million dollars", "5 dollars"),
        ("$1577", "1577 euros"),
        ("Python 3.10", "3.1"),
        ("five (5) seats", "-5"),
        ("1/4 of it", "4"),
        ("1/4 of it", "1"),
        ("\u00bc", "4"),
        ("It needs version 3.11.2.", "version 3.11"),
        ("2.5.1", "2.5"),
        ("1.3.2", "3.2"),
        ("Call 13800138001.", "13800138002"),
        ("ISBN 9780306406158", "9780306406157"),
        ("$5,000,000,004", "$5,000,000,001"),
        ("12 miles", "12 km"),
        ("20 pounds", "20 kg"),
        ("20 degrees Fahrenheit", "20 degrees Celsius"),
        ("5英里", "5公里"),
        ("5 boxes of it", "5 kg"),
        ("5箱", "5公斤"),
        ("twenty seats", "two"),
        ("On May 3, 2020", "0"),
        ("Paris", "London"),
        ("Paris", ""),
        ("Paris", " \n"),
        ("", "Paris"),
        ("", ""),
    ],
)
def test_a_text_does_not_contain_a_part_of_a_number_or_another_quantity(text: str, alias: str) -> None:
    assert not contains(text, alias)


@pytest.mark.parametrize(
    ("text", "alias"),
    [
        ("$1,577 million", "$1577.00"),
        ("1.577 billion dollars", "$1,577 million"),
        ("a loss of $(1,577)", "-$1577"),
        ("It rose by 0.70", ".7"),
        ("It rose by 5 %", "5%"),
        ("5 percent", "5%"),
        ("5%", "+5%"),
        ("12,000,000元", "1200万元"),
        ("about 24.258%", "24.26%"),
        ("eight people", "8"),
        ("2 museums", "two"),
        ("2,000,000 people", "two million"),
        ("12万人", "十二万"),
        ("20 degrees", "20 degrees Celsius"),
        ("20 pounds", "£20"),
        ("20 lbs", "20 pounds"),
        ("5000 mg", "5 g"),
        ("5 square kilometres", "5 km2"),
        ("加息四次", "4次"),
    ],
)
def test_a_text_contains_a_quantity_in_another_notation(text: str, alias: str) -> None:
    assert list(occurrences(text, alias)) == []
    assert contains(text, alias)


def test_an_alias_is_read_as_a_quantity_only_without_other_words() -> None:
    assert contains("5 percent", "5%")
    assert not contains("a rise of 5 percent", "rise of 5%")


def test_a_long_text_is_searched_for_the_alias_but_not_for_quantities() -> None:
    assert contains(f"{'x ' * 6000}5%", "5%")
    assert not contains(f"{'x ' * 6000}5 percent", "5%")


def test_a_hit_never_spans_two_texts() -> None:
    assert slot_hits(slots("New York", "York"), "Old New", "York City") == (None, "York")


def test_occurrences_are_positions_in_the_folded_text() -> None:
    assert list(occurrences("  70, 170, 70.5 and  70", "70")) == [0, 18]


def test_slot_hits_name_the_alias_of_each_slot() -> None:
    gold = slots(["January 2, 2022", "2 January 2022"], "Lima", ["eight", "8"])
    assert slot_hits(gold, "On 2 January 2022, with 8 others") == ("2 January 2022", None, "eight")
    assert slot_hits((), "anything") == ()
    assert slot_hits(((),), "anything") == (None,)


def test_meets_needs_every_slot() -> None:
    assert meets(slots("Rome", ["Lima", "Quito"]), "rome and quito")
    assert not meets(slots("Rome", ["Lima", "Quito"]), "rome")
