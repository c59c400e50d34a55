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


def made_of(*texts: str) -> int:
    """Return how many texts something was made of, when it was asked for of these."""
    made = []
    ask = cached_per_text(lambda text, mark: made.append(text + mark))
    for text in texts:
        ask(text, "!")
    return len(made)


def test_the_spellings_of_a_case_are_cut_once() -> None:
    spellings = [f"spelling {n}" for n in range(100)]
    assert made_of(*spellings, *spellings) == 100


def test_few_texts_that_are_long_are_remembered() -> None:
    long = [f"{n}".ljust(SHORT + 1) for n in range(20)]
    assert made_of(*long[:8], *long[:8]) == 8
    assert made_of(*long, *long) == 40


def test_the_cache_depends_on_all_arguments() -> None:
    ask = cached_per_text(lambda text, *, twice=False: text * (1 + twice))
    assert [ask("a"), ask("a", twice=True), ask("a")] == ["a", "aa", "a"]
