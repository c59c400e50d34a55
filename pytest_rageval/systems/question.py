"""Analyse a question: its content terms, and whether it asks for a number."""

from __future__ import annotations

import re

from pytest_rageval.text.stems import stem
from pytest_rageval.text.words import words

__all__ = ["asks_for_number", "content_terms", "numbers", "terms"]

_ENGLISH = """
    a an and are as at be been by can could did do does for from get gets had has have he her him his how i in is it its
    me must my of on or our s she should t take takes that the their them these they this those to was we were
    what when where which who whom whose why will with would you your
"""
_CHINESE = """
    的 了 在 是 和 与 及 为 于 上 中 有 将 被 把 对 从 到 由 位 个 吗 呢 啊 多少 几 谁 哪 哪些 哪里 哪儿 哪个 哪家
    哪年 哪一年 何时 什么 时候 什么时候 如何 怎么 怎样 为什么 可以 可 能 能够 能否 可否 是否 需要 要 需 多久 多长 多大
"""
FUNCTION_WORDS = frozenset((_ENGLISH + _CHINESE).split())
"""Words without information about the subject of a question."""

_MEASURE = "[艘辆匹头双颗支把个本张份件条只名位家部辆台次遍岁元块所座间篇页层种册杯瓶人]"
_HOW = re.compile(
    rf"\bhow\s+(?:many|much|often|long|old|tall|high|far|big|large|soon|late|early)\b"
    rf"|几(?:{_MEASURE}|[天年周月日号点次倍])",
    re.IGNORECASE,
)
"""Phrases that ask for an amount; they are not content terms."""

_ASKS_FOR_NUMBER = re.compile(
    r"\b(?:when|date|price|how (?:many|much|long|old|tall|high|far|big|large)"
    r"|what (?:year|date|day|time|number|percentage))\b"
    r"|多少|几|何时|时间|时候|日期|哪一?[年天日月]|多[大高长远久]|[人次]数|率|量",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\d+(?:[.,:]\d+)*|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|hundred|thousand"
    r"|million|billion)\b|[一二两三四五六七八九十百千万亿]+",
    re.IGNORECASE,
)
_COUNT = re.compile(rf"[一二两三四五六七八九十百千万亿]+{_MEASURE}")
"""Chinese counts, such as three ships; jieba may join them to neighbouring words."""


def terms(text: str) -> list[str]:
    """Return the words of ``text``, case-folded and stemmed, in order."""
    return [stem(word.casefold()) for word in words(_COUNT.sub(r" \g<0> ", text))]


def content_terms(question: str) -> list[str]:
    """Return the distinct terms of a question without function words; all terms if it has only function words."""
    folded_words = [word.casefold() for word in words(_COUNT.sub(r" \g<0> ", _HOW.sub(" ", question)))]
    content = [stem(word) for word in folded_words if word not in FUNCTION_WORDS]
    return list(dict.fromkeys(content or terms(question)))


def asks_for_number(question: str) -> bool:
    """Return whether a question asks for a number, a date or an amount ("how many", "何时")."""
    return _ASKS_FOR_NUMBER.search(question) is not None


def numbers(text: str) -> set[str]:
    """Return the numbers written in ``text``, in digits or in English or Chinese number words."""
    return set(_NUMBER.findall(text))
