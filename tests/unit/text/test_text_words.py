"""Texts are split into words, and results per text are cached."""

from __future__ import annotations

import pytest

from pytest_rageval.text.words import SHORT, cached_per_text, words


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
        ("于2021-12-29公布", ["于", "2021", "12", "29", "公布"]),
        ("甲_乙", ["甲", "乙"]),
        ("感染COVID-19的人", ["感染", "COVID", "19", "的", "人"]),
        ("网址www.x.com在此", ["网址", "www", "x", "com", "在", "此"]),
        ("增长3.5%以上", ["增长", "3.5%", "以上"]),
        ("用C++写的AT&T程序", ["用", "C++", "写", "的", "AT&T", "程序"]),
    ],
)
def test_texts_are_split_into_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_a_lone_surrogate_separates_words() -> None:
    assert words("北京\ud800上海") == ["北京", "上海"]
    assert words("Rome\udfffLima") == ["Rome", "Lima"]


def count_computations(*texts: str) -> int:
    """Return how often the cached function ran for these texts."""
    computed = []
    cached = cached_per_text(lambda text, mark: computed.append(text + mark))
    for text in texts:
        cached(text, "!")
    return len(computed)


def test_a_hundred_short_texts_are_cached() -> None:
    spellings = [f"spelling {n}" for n in range(100)]
    assert count_computations(*spellings, *spellings) == 100


def test_only_a_few_long_texts_are_cached() -> None:
    long = [f"{n}".ljust(SHORT + 1) for n in range(20)]
    assert count_computations(*long[:8], *long[:8]) == 8
    assert count_computations(*long, *long) == 40


def test_the_cache_depends_on_all_arguments() -> None:
    cached = cached_per_text(lambda text, *, twice=False: text * (1 + twice))
    assert [cached("a"), cached("a", twice=True), cached("a")] == ["a", "aa", "a"]
