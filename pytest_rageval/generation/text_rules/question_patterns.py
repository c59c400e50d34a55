"""Fixed sentence patterns, and the question (who, when, where, how much) that each becomes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_rageval.generation.text_rules.statements import Statement
from pytest_rageval.generation.text_rules.values import Kind, Value

__all__ = ["PATTERNS", "Pattern", "question_of"]

_MARK = "\0"
"""Stands for the value."""

_X = r"(?P<x>(?:[A-Z]|Collecting |A |An |The )[^,;:()\0]{1,70}?)"
_REST = r"(?P<rest>(?: (?:on|from|during|in|at|for) [^,;:()\0.]{2,40})?)(?:[.!]|[,;] [^\0]*[.!])\Z"
_HAN = r"(?P<x>[^，。；：、\s\0（）]{3,20}?)"
_END = r"(?:[。！]|，[^\0]*[。！])\Z"
_LOWERED = re.compile(r"(?:The|A|An|Every|Each|All|Any|[A-Z][a-z]+ing)\b")


@dataclass(frozen=True, slots=True)
class Pattern:
    """One pattern.

    Attributes:
        name: its name in the origin of a draft.
        sentence: matches the whole sentence with a mark for the value. The group ``x`` is the subject of the question,
            ``rest`` a condition that the question repeats.
        question: the question with ``{x}``, ``{rest}`` and other groups.
        kinds: the kinds of values that fit.
    """

    name: str
    sentence: re.Pattern[str]
    question: str
    kinds: frozenset[Kind]


def _pattern(name: str, sentence: str, question: str, *kinds: Kind) -> Pattern:
    return Pattern(name, re.compile(sentence), question, frozenset(kinds))


def _passive(verb: str) -> Pattern:
    return _pattern(
        f"{verb} in", rf"{_X} (?P<be>was|were) {verb} (?:in|on) \0(?:[.!]|[,;] [^\0]*[.!]| and [^\0]*[.!])\Z",
        f"When {{be}} {{x}} {verb}?", "date",
    )  # fmt: skip


def _maker(verb: str) -> Pattern:
    return _pattern(f"{verb} by", rf"{_X} (?:was|were) {verb} by \0{_REST}", f"Who {verb} {{x}}{{rest}}?", "name")


PATTERNS: dict[str, tuple[Pattern, ...]] = {
    "en": (
        _pattern("opens", rf"{_X} opens at \0{_REST}", "When does {x} open{rest}?", "time"),
        _pattern("closes", rf"{_X} closes at \0{_REST}", "When does {x} close{rest}?", "time"),
        _pattern(
            "costs", rf"{_X} costs \0(?P<unit> [a-z]+)?{_REST}", "How much does {x} cost{rest}?", "money", "number"
        ),
        _pattern("is in", rf"{_X} is in \0[.!]\Z", "Where is {x}?", "name"),
        *map(_passive, ("founded", "built", "established", "opened", "born")),
        *map(_maker, ("founded", "built")),
        _pattern(
            "has", rf"{_X} has \0 (?P<things>[a-z][a-z -]{{2,40}}?){_REST}", "How many {things} does {x} have{rest}?",
            "number",
        ),
    ),
    "zh": (
        _pattern(
            "于", rf"{_HAN}(?P<verb>成立|创立|创办|创建|建成|落成|通车|开业|开馆|出生|始建|建立)于\0{_END}",
            "{x}是什么时候{verb}的？", "date",
        ),
        _pattern(
            "年", rf"{_HAN}[于在]?\0(?P<verb>成立|创立|创办|创建|建成|落成|通车|开业|开馆|出生|建立){_END}",
            "{x}是什么时候{verb}的？", "date",
        ),
        _pattern(
            "票价", rf"{_HAN}(?P<price>票价|售价|价格|租金|押金)[为是]\0[^，。\0]{{0,4}}{_END}", "{x}{price}是多少？",
            "money", "number",
        ),
        _pattern("开门", rf"{_HAN}\0(?P<verb>开门|关门|闭馆|开馆|关闭|打烊){_END}", "{x}几点{verb}？", "time"),
        _pattern("位于", rf"{_HAN}(?:位于|坐落于|坐落在)\0{_END}", "{x}位于哪里？", "name"),
        _pattern("由", rf"{_HAN}由\0(?P<verb>创立|创办|创建|建造|设计)(?:的)?{_END}", "{x}是谁{verb}的？", "name"),
    ),
}  # fmt: skip
"""Language -> its patterns."""

_NO_PRICE = frozenset({"s", "months", "%", "pp", "people", "m", "g", "times"})
"""Units of values that are not prices."""


def question_of(statement: Statement, value: Value) -> tuple[str, str] | None:
    """Return the question for a value and the name of its pattern; None if no pattern fits."""
    sentence = statement.text[: value.start] + _MARK + statement.text[value.end :]
    for pattern in PATTERNS[statement.language]:
        if value.kind not in pattern.kinds or (
            pattern.name in ("costs", "票价") and (value.group[1] in _NO_PRICE or value.group[-1])
        ):
            continue
        match = pattern.sentence.match(sentence)
        if match is not None:
            groups = {name: text or "" for name, text in match.groupdict().items()}
            return pattern.question.format(**groups | {"x": _inside(groups["x"])}), pattern.name
    return None


def _inside(subject: str) -> str:
    """Return a subject for the middle of a sentence: an article or a gerund starts in lower case."""
    return subject[0].lower() + subject[1:] if _LOWERED.match(subject) else subject
