"""Contrast questions: two sentences of different documents with the same words around values of one unit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.text_rules.blanks import is_askable, quoted
from pytest_rageval.generation.text_rules.drafting import drafted
from pytest_rageval.generation.text_rules.statements import Statement
from pytest_rageval.generation.text_rules.values import Value

__all__ = ["contrasts"]

LONGEST = 110
_BEFORE, _AFTER = 3, 2
_BEFORE_ZH, _AFTER_ZH = 4, 2
_SUBJECT_EN = re.compile(
    r"(?P<x>[^,;:()\"]{3,60}?) (?:is|are|was|were|has|have|had|may|can|will|costs?|opens?|closes?|runs?|seats?|holds?"
    r"|carries|keeps?|leaves?|measures?|covers?|weighs?|starts?|ends?)\b"
)
_WORDS = re.compile(r"\w+|[^\w\s]")


def contrasts(statements: Iterable[Statement]) -> Iterator[Draft]:
    """Yield a draft for each pair of statements of one topic that say the same of two things.

    The three words before the values (four characters in Chinese) and the two after are equal. A statement is in one
    pair at most; the next statement of another document is the second.
    """
    waiting: dict[tuple[str, ...], tuple[Statement, Value, str]] = {}
    used: set[int] = set()
    for statement in statements:
        if len(statement.text) > LONGEST:
            continue
        for value in statement.values:
            about = _subject(statement, value)
            key = _key(statement, value)
            if id(statement) in used or not about or not key or not value.order or not is_askable(value):
                continue
            other = waiting.get(key)
            if other is None or other[0].document == statement.document:
                waiting[key] = (statement, value, about)
                continue
            if about.casefold() != other[2].casefold() and value.order != other[1].order:
                used |= {id(statement), id(other[0])}
                del waiting[key]
                yield _draft(other, (statement, value, about))


def _key(statement: Statement, value: Value) -> tuple[str, ...]:
    """Return the words around a value with its group and topic; empty if there are too few words."""
    before, after = statement.text[: value.start], statement.text[value.end :]
    if statement.language == "zh":
        head, tail = before[-_BEFORE_ZH:], after[:_AFTER_ZH]
        if len(head) < _BEFORE_ZH or not head.isalpha():
            return ()
        return (statement.topic, *value.group, head, tail)
    head_words, tail_words = _WORDS.findall(before.casefold()), _WORDS.findall(after.casefold())
    if len(head_words) < _BEFORE + 1:
        return ()
    return (statement.topic, *value.group, *head_words[-_BEFORE:], "\n", *tail_words[:_AFTER])


def _subject(statement: Statement, value: Value) -> str:
    """Return what a statement is about: the words before its verb, or before what both Chinese statements share."""
    before = statement.text[: value.start]
    if statement.language == "zh":
        head = re.split("[，、：；]", before)[0] if "，" in before else before[:-_BEFORE_ZH]
        return head if 2 <= len(head) <= 16 else ""
    match = _SUBJECT_EN.match(before)
    return match["x"] if match is not None else ""


def _draft(one: tuple[Statement, Value, str], other: tuple[Statement, Value, str]) -> Draft:
    language, kind = one[0].language, one[1].kind
    texts = [quoted(statement.blanked(value), language) for statement, value, _ in (one, other)]
    by_time = kind in ("date", "time")
    pick = min if by_time else max
    _, _, winner = pick((one, other), key=lambda each: each[1].order)
    if language == "zh":
        asked = "哪一个更早" if by_time else "哪一个的数更大"
        question = f"比较{texts[0]}和{texts[1]}：{asked}？两处各应填什么？"
    else:
        asked = "which is earlier" if by_time else "which has the larger number"
        question = f"Compare {texts[0]} with {texts[1]} By their missing values, {asked}, and what are both values?"
    gold = ((winner,), *((value.text,) for _, value, _ in (one, other)))
    return drafted(question, gold, "contrast_qa", "contrast", [one[0], other[0]])
