"""Draft contrast questions from two sentences that differ only in their subject and value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.text_rules.blanks import is_askable, quoted
from pytest_rageval.generation.text_rules.rule_draft import make_draft
from pytest_rageval.generation.text_rules.statements import Statement
from pytest_rageval.generation.text_rules.subjects import subject_of
from pytest_rageval.generation.text_rules.values import Value

__all__ = ["contrasts"]

LONGEST = 120
"""Maximum characters of a statement."""

_AFTER, _AFTER_ZH = 2, 2
"""Words after the value that must be equal; in Chinese, characters."""

_WORDS = re.compile(r"\w+|[^\w\s]")

Located = tuple[Statement, Value, str]
"""A statement, its value, and what it is about."""


def contrasts(statements: Iterable[Statement]) -> Iterator[Draft]:
    """Yield a draft for each pair of statements of one topic that state the same property of two subjects.

    The words between subject and value must be equal, and so must the next two words after the value (in Chinese, two
    characters). The statements come from different documents, and their values have the same unit. A statement is in
    one pair at most: it is paired with the next one that fits.
    """
    unpaired: dict[tuple[str, ...], Located] = {}
    paired_ids: set[int] = set()
    for statement in statements:
        about = subject_of(statement) if len(statement.text) <= LONGEST else ""
        for value in statement.values if about else ():
            if id(statement) in paired_ids or value.start < len(about) or not value.order or not is_askable(value):
                continue
            key, current = _key(statement, value, about), (statement, value, about)
            earlier = unpaired.get(key)
            if earlier is None or earlier[0].document == statement.document or not _differ(current, earlier):
                unpaired.setdefault(key, current)
                continue
            paired_ids |= {id(statement), id(earlier[0])}
            del unpaired[key]
            yield _draft(earlier, current)


def _differ(one: Located, other: Located) -> bool:
    return one[2].casefold() != other[2].casefold() and one[1].order != other[1].order


def _key(statement: Statement, value: Value, about: str) -> tuple[str, ...]:
    """Return what the statements of a pair share: topic, group of the value, words before and after the value."""
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
        choice = "哪一个更早" if by_time else "哪一个的数更大"
        question = f"比较{texts[0]}和{texts[1]}：{choice}？两处各应填什么？"
    else:
        choice = "which is earlier" if by_time else "which has the larger number"
        question = f"Compare {texts[0]} with {texts[1]} By the missing values, {choice}, and what are both values?"
    gold = ((winner,), *((value.text,) for _, value, _ in (one, other)))
    return make_draft(question, gold, "contrast_qa", "contrast", [one[0], other[0]])
