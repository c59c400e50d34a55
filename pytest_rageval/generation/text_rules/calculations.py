"""Multi-hop questions: the sum, difference or ratio of two values of one passage."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from itertools import combinations

from pytest_rageval.generation.checks.support import CALCULATION
from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.text_rules.blanks import quoted
from pytest_rageval.generation.text_rules.rule_draft import make_draft
from pytest_rageval.generation.text_rules.statements import Statement
from pytest_rageval.generation.text_rules.values import Value
from pytest_rageval.text.words import words

__all__ = ["calculations"]

MAX_PER_PASSAGE = 2
"""Maximum number of questions per passage."""

MAX_SENTENCE_LENGTH = 110
"""Maximum length of each of two sentences in characters."""

MIN_COMMON_WORDS = 0.5
"""Minimum share of common words of two sentences about the same thing."""

_NO_SUM = frozenset({"%", "pp", "times", "m/s", "°", "°C", "°F", "s", "months", "?"})
_SHARES = frozenset({"%", "pp"})
_NO_RATIO = frozenset({"%", "pp", "°", "°C", "°F", "times"})
_DECIMALS = 100
_PERCENT = frozenset({"%", "percent", "per cent"})
_SAME_BEFORE = 2
"""How many equal characters before two values make them parallel."""

_MAX_GAP_WITH_AND, _MAX_GAP = 24, 12
"""Maximum number of characters between two values of one sentence: parallel ones with "and", and close ones."""

_AND = re.compile(r"\band\b|[和与及、]")

LocatedValue = tuple[Statement, Value]
"""A value with its statement."""


@dataclass(frozen=True, slots=True)
class _Operation:
    """A calculation with its result.

    Attributes:
        name: ``difference``, ``sum`` or ``ratio``.
        result: the exact result.
        calculation: the calculation in plain numbers.
    """

    name: str
    result: Fraction
    calculation: str


def calculations(statements: Iterable[Statement], seed: int) -> Iterator[Draft]:
    """Yield at most two drafts per passage, each with different values.

    Args:
        statements: the statements, in order.
        seed: decides among the possible operations.
    """
    passages: dict[str, list[Statement]] = {}
    for statement in statements:
        passages.setdefault(statement.passage.id, []).append(statement)
    for members in passages.values():
        yield from _of_passage(members, seed)


def _of_passage(statements: Sequence[Statement], seed: int) -> Iterator[Draft]:
    """Yield the drafts of the statements of one passage."""
    groups: dict[tuple[str, ...], list[LocatedValue]] = {}
    for statement in statements:
        for value in statement.values:
            if _is_countable(value) and statement.text[value.end : value.end + 1] not in ("-", "/"):
                groups.setdefault(value.group, []).append((statement, value))
    n_drafts, used_ids = 0, set[int]()
    for members in groups.values():
        for one, other in combinations(members, 2):
            if n_drafts == MAX_PER_PASSAGE or {id(one[1]), id(other[1])} & used_ids or not _fits(one, other):
                continue
            operation = _operation(one, other, seed)
            if operation is not None:
                n_drafts += 1
                used_ids |= {id(one[1]), id(other[1])}
                yield _draft(one, other, operation)


def _is_countable(value: Value) -> bool:
    if value.kind == "date":
        return value.group[1] == "y"
    return value.kind == "time" or value.number is not None


def _fits(one: LocatedValue, other: LocatedValue) -> bool:
    """Return whether two values may belong to the same thing: in one sentence, or in similar ones."""
    if one[0] is other[0]:
        return True
    if one[0].frame == other[0].frame or any(
        len(statement.text) > MAX_SENTENCE_LENGTH for statement, _ in (one, other)
    ):
        return False
    first, second = ({*words(statement.frame)} - {"_"} for statement, _ in (one, other))
    return len(first & second) >= MIN_COMMON_WORDS * min(len(first), len(second))


def _operation(one: LocatedValue, other: LocatedValue, seed: int) -> _Operation | None:
    """Choose a calculation by the seed and the sentences; None if the two values allow none."""
    first, second = (value.order[0] for _, value in (one, other))
    larger, smaller = max(first, second), min(first, second)
    if larger == smaller or (one[1].kind == "date" and larger - smaller == 1):
        return None
    group = one[1].group
    if (one[1].kind == "time" or group[1] in _SHARES) and not (_are_parallel(one, other) or _are_near(one, other)):
        return None
    operations = [_Operation("difference", larger - smaller, f"{_decimal(larger)} - {_decimal(smaller)}")]
    if one[1].number is not None and _are_parallel(one, other):
        if group[1] not in _NO_SUM and one[0] is other[0]:
            operations.append(_Operation("sum", larger + smaller, f"{_decimal(larger)} + {_decimal(smaller)}"))
        if group[1] not in _NO_RATIO and smaller and (larger / smaller * _DECIMALS).denominator == 1:
            operations.append(_Operation("ratio", larger / smaller, f"{_decimal(larger)} / {_decimal(smaller)}"))
    digest = sha256(f"{seed}\n{one[0].text}\n{other[0].text}".encode("utf-8", "surrogatepass")).digest()
    return operations[digest[0] % len(operations)]


def _are_parallel(one: LocatedValue, other: LocatedValue) -> bool:
    """Return whether two values are parallel: the same characters come before both, or "and" is between them."""
    (first, value), (second, other_value) = one, other
    heads = [statement.text[: each.start].rstrip()[-_SAME_BEFORE:] for statement, each in (one, other)]
    between = first.text[value.end : other_value.start] if first is second else ""
    if "/" in between:
        return False
    if heads[0] == heads[1] and heads[0]:
        return True
    return len(between) <= _MAX_GAP_WITH_AND and _AND.search(between) is not None


def _are_near(one: LocatedValue, other: LocatedValue) -> bool:
    """Return whether two values are close in one sentence, such as from 61.5% to 70%."""
    (first, value), (second, other_value) = one, other
    return (
        first is second
        and "/" not in (between := first.text[value.end : other_value.start])
        and len(between) <= _MAX_GAP
    )


def _draft(one: LocatedValue, other: LocatedValue, operation: _Operation) -> Draft:
    (first, value), (second, other_value) = one, other
    language = first.language
    if first is second:
        texts = [quoted(first.blanked(value, other_value), language)]
    else:
        texts = [quoted(first.blanked(value), language), quoted(second.blanked(other_value), language)]
    unit, aliases = _answer(value, operation, language)
    question = _question_zh(texts, operation, unit) if language == "zh" else _question_en(texts, operation, unit, value)
    statements = [first] if first is second else [first, second]
    verdicts = {CALCULATION: operation.calculation}
    return make_draft(question, (aliases,), "multi_hop_qa", operation.name, statements, verdicts)


def _question_en(texts: Sequence[str], operation: _Operation, unit: str, value: Value) -> str:
    kind = {"date": "years", "time": "times of day"}.get(value.kind, "numbers")
    question_en = {
        "difference": "What is the difference between them",
        "sum": "What is their sum",
        "ratio": "How many times the smaller one is the larger one",
    }[operation.name]
    of_unit = f", in {unit}" if unit and operation.name != "ratio" else ""
    return f"Two {kind} are missing in {' and in '.join(texts)} {question_en}{of_unit}?"


def _question_zh(texts: Sequence[str], operation: _Operation, unit: str) -> str:
    question_zh = {
        "difference": f"这两个数相差多少{unit}？",
        "sum": f"这两个数的和是多少{unit}？",
        "ratio": "较大的数是较小的数的几倍？",
    }[operation.name]
    return f"{'和'.join(texts)}中缺少两个数。{question_zh}"


def _answer(value: Value, operation: _Operation, language: str) -> tuple[str, tuple[str, ...]]:
    """Return the unit of the result and its aliases."""
    plain, grouped = _decimal(operation.result), _with_separators(operation.result)
    if operation.name == "ratio":
        return "", _unique(plain, f"{plain}倍" if language == "zh" else f"{plain} times")
    unit = {"date": "年" if language == "zh" else "years", "time": "分钟" if language == "zh" else "minutes"}.get(
        value.kind, value.unit
    )
    if unit in _PERCENT and operation.name == "difference":
        unit = "个百分点" if language == "zh" else "percentage points"
    if unit and value.text.startswith(unit):  # a currency sign
        return "", _unique(f"{unit}{grouped}{value.scale}", f"{unit}{plain}{value.scale}")
    if operation.result == 1 and unit.isascii() and unit.endswith("s") and " " not in unit:
        unit = unit.removesuffix("s")
    space = " " if " " in unit or (unit.isascii() and unit.isalpha()) else ""
    with_unit = _unique(*(f"{number}{value.scale}{space}{unit}" for number in (grouped, plain)))
    of_unit = f"{value.scale.strip()}{unit}" if language == "zh" else f"{value.scale.strip()} {unit}".strip()
    return of_unit, _unique(*with_unit, *((grouped, plain) if unit != "%" else ()))


def _unique(*texts: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def _decimal(number: Fraction) -> str:
    """Return a number in decimal notation, exact up to 12 decimals."""
    whole, remainder = divmod(number, 1)
    digits = ""
    while remainder and len(digits) < 12:
        digit, remainder = divmod(remainder * 10, 1)
        digits += str(digit)
    return f"{whole}.{digits}" if digits else str(whole)


def _with_separators(number: Fraction) -> str:
    whole, point, decimals = _decimal(number).partition(".")
    return f"{int(whole):,}{point}{decimals}"
