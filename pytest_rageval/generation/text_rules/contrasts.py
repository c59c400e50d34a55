"""Contrast questions: two sentences of different documents with the same words around values of one unit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.text_rules.blanks import is_askable, quoted
from pytest_rageval.generation.text_rules.drafting import drafted
from pytest_rageval.generation.text_rules.statements import Statement
from pytest_rageval.generation.text_rules.subjects import subject_of
from pytest_rageval.generation.text_rules.values import Value

__all__ = ["contrasts"]

LONGEST = 120
_AFTER, _AFTER_ZH = 2, 2
_WORDS = re.compile(r"\w+|[^\w\s]")

Located = tuple[Statement, Value, str]
"""A statement, its value, and what it is about."""


def contrasts(statements: Iterable[Statement]) -> Iterator[Draft]:
    """Yield a draft for each pair of statements of one topic that say the same of two things.

    All words between the subject and the value are equal, and the two after the value (two characters in Chinese). A
    statement is in one pair at most; the next statement of another document is the second.
    """
    waiting: dict[tuple[str, ...], Located] = {}
    used: set[int] = set()
    for statement in statements:
        about = subject_of(statement) if len(statement.text) <= LONGEST else ""
        for value in statement.values if about else ():
            if id(statement) in used or value.start < len(about) or not value.order or not is_askable(value):
                continue
            key, here = _key(statement, value, about), (statement, value, about)
            other = waiting.get(key)
            if other is None or other[0].document == statement.document or not _differ(here, other):
                waiting.setdefault(key, here)
                continue
            used |= {id(statement), id(other[0])}
            del waiting[key]
            yield _draft(other, here)


def _differ(one: Located, other: Located) -> bool:
    return one[2].casefold() != other[2].casefold() and one[1].order != other[1].order


def _key(statement: Statement, value: Value, about: str) -> tuple[str, ...]:
    """Return the words between subject and value and those after the value, with its group and the topic."""
    before, after = statement.text[len(about) : value.start], statement.text[value.end :]
    if statement.language == "zh":
        return (statement.topic, *value.group, before, after[:_AFTER_ZH])
    head, tail = _WORDS.findall(before.casefold()), _WORDS.findall(after.casefold())
    return (statement.topic, *value.group, *head, "\n", *tail[:_AFTER])


def _draft(one: Located, other: Located) -> Draft:
    language, kind = one[0].language, one[1].kind
    texts = [quoted(statement.blanked(value), language) for statement, value, _ in (one, other)]
    by_time = kind in ("date", "time")
    _, _, winner = (min if by_time else max)((one, other), key=lambda each: each[1].order)
    if language == "zh":
        asked = "哪一个更早" if by_time else "哪一个的数更大"
        question = f"比较{texts[0]}和{texts[1]}：{asked}？两处各应填什么？"
    else:
        asked = "which is earlier" if by_time else "which has the larger number"
        question = f"Compare {texts[0]} with {texts[1]} By the missing values, {asked}, and what are both values?"
    gold = ((winner,), *((value.text,) for _, value, _ in (one, other)))
    return drafted(question, gold, "contrast_qa", "contrast", [one[0], other[0]])
