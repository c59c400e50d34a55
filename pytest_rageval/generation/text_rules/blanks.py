"""Extractive questions: sentences with a blank for a value, or a question if a pattern fits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.text_rules.question_patterns import question_of
from pytest_rageval.generation.text_rules.rule_draft import make_draft
from pytest_rageval.generation.text_rules.statements import Statement
from pytest_rageval.generation.text_rules.values import Value
from pytest_rageval.metrics.shared.matching import occurrences

__all__ = ["aliases_of", "blanks", "is_askable", "quoted"]

AMBIGUOUS = "ambiguous"
_EVENT = re.compile(
    "成立|组建|建成|创[办立建]|揭牌|发布|公布|印发|出台|签署|开工|通车|启用|投用|投产|上市|开业|当选|就任|出任|担任|出生|[去逝]世|登陆|颁布"
    "|实施|通过|举行|举办|召开|开幕|闭幕|宣布|首次|荣?获|入选|列入|评为|认证|收购|合并|更名|升格|爆发|批准|设立|推出|启动|夺冠|加入"
)
_DATED = re.compile(
    r"(?:\b(?:on|in|since|by|from|until|till|to|of|after|before|through|between|and|at|was|is|born|died|dated|for|the"
    r"|than)|[(–—,;-]) *\Z"
)
"""Words or marks before a date that is a part of an English sentence."""

_REGULAR = re.compile("每|周[一-日末]|工作日|营业|开放|[首末]班|发车|开船|[开关]门|[开闭]馆|时间|通常")
_QUOTES = str.maketrans({'"': "'", "“": "‘", "”": "’"})


def blanks(statements: Iterable[Statement]) -> Iterator[Draft]:
    """Yield one draft for each statement, about its first value that a question can ask for.

    Drafts with the same question and different answers are dropped as ``ambiguous``.
    """
    keyed_drafts: list[tuple[Draft, str]] = []
    answers: dict[str, set[str]] = {}
    for statement in statements:
        for value in statement.values:
            if is_askable(value) and not _is_loose(statement, value) and not _is_repeated(statement, value):
                draft, key = _draft(statement, value)
                keyed_drafts.append((draft, key))
                answers.setdefault(key, set()).add(value.text.casefold())
                break
    for draft, key in keyed_drafts:
        others = sorted(answers[key])
        yield draft if len(others) == 1 else draft.dropped(AMBIGUOUS, " or ".join(others[:3]))


def is_askable(value: Value) -> bool:
    """Return whether a value is complete enough for a question: a date needs its year."""
    return value.kind != "date" or "y" in value.group[1]


def _is_repeated(statement: Statement, value: Value) -> bool:
    """Return whether the sentence contains the value again elsewhere."""
    rest = statement.blanked(value)
    return any(next(occurrences(rest, alias), None) is not None for alias in aliases_of(value))


def _is_loose(statement: Statement, value: Value) -> bool:
    """Return whether a date or time is not a part of the sentence, or depends on the day of writing."""
    if statement.language != "zh":
        if value.kind != "date":
            return False
        if not value.start:  # "2022 was a year", "March 2022, when", but not "March 2022 We"
            return value.group[1] != "y" and statement.text[value.end : value.end + 1] != ","
        return "d" in value.group[1] and _DATED.search(statement.text, 0, value.start) is None
    if value.kind == "time":
        return _REGULAR.search(statement.text) is None
    return value.kind == "date" and not value.start and _EVENT.search(statement.text) is None


def aliases_of(value: Value) -> tuple[str, ...]:
    """Return the value as in the text, and with the word of its unit."""
    if value.kind == "date" and value.group[1] == "y":
        return tuple(dict.fromkeys((value.text, value.text.rstrip("年度").strip())))
    with_unit = value.text
    if value.unit and value.unit not in value.text:
        with_unit = f"{value.text}{' ' if value.unit.isascii() else ''}{value.unit}"
    return tuple(dict.fromkeys((value.text, with_unit)))


def quoted(text: str, language: str) -> str:
    """Put a text in quotation marks; quotation marks inside become single ones."""
    inner = text.translate(_QUOTES)
    return f"“{inner}”" if language == "zh" else f'"{inner}"'


def _draft(statement: Statement, value: Value) -> tuple[Draft, str]:
    """Return the draft for a value, and the key of its question, to find ambiguous answers."""
    pattern = question_of(statement, value)
    if pattern is not None:
        question, origin = pattern
        key = question
    else:
        key = statement.blanked(value)
        blank = quoted(key, statement.language)
        question = f"请补全：{blank}" if statement.language == "zh" else f"Fill in the blank: {blank}"
        origin = "blank"
    aliases = aliases_of(value)
    gold = (aliases if pattern is None else tuple(reversed(aliases)),)
    return make_draft(question, gold, "extractive_qa", origin, [statement]), " ".join(key.casefold().split())
