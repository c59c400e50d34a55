"""Safe and unique ids of cases."""

from __future__ import annotations

import re
from collections import defaultdict

import pytest

from pytest_rageval.testbeds.ids import digest, safe, unique_ids


@pytest.mark.parametrize("name", ["en_refine-17", "a.b=c@d+e~f-g_H9", "x" * 60, "x-noise_rate=0.4"])
def test_plain_names_are_unchanged(name: str) -> None:
    assert safe(name) == name


@pytest.mark.parametrize(
    "name", ["", "a b", "a::b[c]", "问题", "a/b", "x" * 61, "\x1b[31m", "a\u202eb", "a\nb", "a,b", "\udcff"]
)
def test_other_names_become_plain_short_and_unique(name: str) -> None:
    plain = safe(name)
    assert re.fullmatch(r"[A-Za-z0-9_.=@+~-]{1,60}", plain)
    assert re.search(r"~[0-9a-f]{6}$", plain)
    assert plain != safe(f"{name}'")
    assert plain == safe(name)


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("投资-基金-多轮对话能力-1.2", "Investment-Funds-conversational_qa-1.2"),
        ("监管与合规-反洗钱（AML）-抽取类问答-17", "Regulation_compliance-AML-extractive_qa-17"),
        ("投资-私募-对比类问答-3", r"Investment-__-contrast_qa-3~[0-9a-f]{6}"),
        (
            "监管与合规-监管报告-多轮对话能力-123.4",
            r"Regulation_compliance-Regulatory_reporting-conversati~[0-9a-f]{6}",
        ),
        ("投资基金", r"____~[0-9a-f]{6}"),
    ],
)
def test_the_published_chinese_topics_and_tasks_are_translated_to_english(name: str, plain: str) -> None:
    assert re.fullmatch(plain, safe(name))


def test_an_english_name_does_not_collide_with_a_translated_one() -> None:
    names = ["Investment-Funds-1", "投资-基金-1", "投资-Funds-1"]
    ids = unique_ids(names)
    assert ids[0] == names[0]
    assert [re.sub("~[0-9a-f]{32}$", "~", each) for each in ids[1:]] == ["Investment-Funds-1~"] * 2
    assert ids[1] != ids[2]


def test_the_later_of_two_colliding_names_gets_a_longer_hash() -> None:
    by_id: dict[str, list[str]] = defaultdict(list)
    number = 0
    while True:
        name = f"{number // 10000:04d}{number % 10000:04d}"
        name = "".join(chr(0x4E00 + int(digit)) for digit in name)
        by_id[safe(name)].append(name)
        if len(by_id[safe(name)]) == 2:
            break
        number += 1
    first, second = by_id[safe(name)]
    ids = unique_ids([first, second, "plain"])
    assert ids[0] == safe(first)
    assert ids[2] == "plain"
    assert re.fullmatch(r"_{8}~[0-9a-f]{32}", ids[1])


def test_a_digest_depends_on_each_part() -> None:
    assert digest(0, "a") == digest(0, "a")
    assert len({digest(0, "a"), digest(1, "a"), digest(0, "b"), digest("0a"), digest(0, "a", "")}) == 5
