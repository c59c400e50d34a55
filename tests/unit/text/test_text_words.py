from __future__ import annotations

import pytest

from pytest_rageval.text.words import words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The firm's 3.5% rise", ["The", "firm", "s", "3", "5", "rise"]),
        ("", []),
        (" \n—!", []),
        ("我来到北京清华大学", ["我", "来到", "北京", "清华大学"]),
        ("他来到了网易杭研大厦", ["他", "来到", "了", "网易", "杭研", "大厦"]),
        ("小明硕士毕业于中国科学院计算所", ["小明", "硕士", "毕业", "于", "中国科学院", "计算所"]),
        ("，。！北京？", ["北京"]),
        ("在 Paris 工作", ["在", "Paris", "工作"]),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_a_lone_surrogate_separates_words() -> None:
    assert words("北京\ud800上海") == ["北京", "上海"]
    assert words("Rome\udfffLima") == ["Rome", "Lima"]
