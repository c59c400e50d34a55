from __future__ import annotations

import pytest
from metric_samples import slots

from pytest_rageval.metrics.matching import contains, fold, meets, occurrences, slot_hits


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("  Paris \t\n in   Spring ", "paris in spring"),
        ("ＰＡＲＩＳ　２０２４", "paris 2024"),
        ("Straße", "strasse"),
        ("ﬁnance", "finance"),
        ("2023 年 净利润 5 亿元", "2023年净利润5亿元"),
        ("iPhone 14 发布", "iphone 14发布"),
        ("", ""),
        (" \u3000\n", ""),
    ],
)
def test_fold(text: str, folded: str) -> None:
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
    ],
)
def test_contained(text: str, alias: str) -> None:
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
        ("It rose by .70", ".7"),
        ("(.70)", "70"),
        (".70", "70"),
        ("It rose by 0.70", ".70"),
        ("Paris", "London"),
        ("Paris", ""),
        ("Paris", " \n"),
        ("", "Paris"),
        ("", ""),
    ],
)
def test_not_contained(text: str, alias: str) -> None:
    assert not contains(text, alias)


def test_occurrences_are_all_found_and_positions_count_in_the_folded_text() -> None:
    assert list(occurrences("  70, 170, 70.5 and  70", "70")) == [0, 18]


def test_slot_hits_name_the_alias_of_each_slot() -> None:
    gold = slots(["January 2, 2022", "2 January 2022"], "Lima", ["eight", "8"])
    assert slot_hits(gold, "On 2 January 2022, with 8 others") == ("2 January 2022", None, "8")
    assert slot_hits((), "anything") == ()
    assert slot_hits(((),), "anything") == (None,)


def test_meets_wants_every_slot() -> None:
    assert meets(slots("Rome", ["Lima", "Quito"]), "rome and quito")
    assert not meets(slots("Rome", ["Lima", "Quito"]), "rome")
