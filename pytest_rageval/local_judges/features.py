"""The features of a local judge: numbers about a question, its gold answer and an answer."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import mul

from pytest_rageval.metrics.answers.rouge import rouge_l as rouge_l_score
from pytest_rageval.metrics.answers.squad import token_f1 as token_f1_score
from pytest_rageval.metrics.shared.quantities import numerical_verdict
from pytest_rageval.metrics.shared.right_answer import is_right
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case, Gold, Instance
from pytest_rageval.model.sample import Sample
from pytest_rageval.text.refusals import refusal_clauses
from pytest_rageval.text.refusals import refuses as refuses_plainly

__all__ = [
    "COSINES",
    "RULES",
    "Feature",
    "JudgeInput",
    "contains",
    "cosine",
    "gold_has_number",
    "gold_length",
    "length",
    "number_none",
    "number_right",
    "number_wrong",
    "refusals",
    "refuses",
    "rouge_l",
    "rule_values",
    "same_polarity",
    "token_f1",
    "yes_no",
]

MAX_REFUSALS = 5

_OPENING = re.compile(r"\A\W*(?:(?P<yes>yes|yeah|yep|是的?|对的?)|(?P<no>no|nope|不是?|否|没有?))\b", re.IGNORECASE)
_DIGIT = re.compile(r"\d|[零〇二三四五六七八九十百千万亿]")


@dataclass(frozen=True, slots=True)
class JudgeInput:
    """The texts of one answer that a local judge reads, without facets, ids and names of systems.

    Attributes:
        question: the question.
        gold: the gold answer, slots (all) of aliases (any); empty if the record has none.
        answer: the answer to judge.
        language: the language of the case, "en" or "zh".
    """

    question: str
    gold: Gold
    answer: str
    language: str = "en"

    @property
    def gold_text(self) -> str:
        """The first alias of each slot, one per line."""
        return "\n".join(slot[0] for slot in self.gold if slot)

    @property
    def sample(self) -> Sample:
        """The sample that metrics read."""
        instance = Instance("", self.question, self.gold, language=self.language)
        return Sample(Case("", instance, None, {}), Answer(self.answer))


@dataclass(frozen=True, slots=True)
class Feature:
    """One feature.

    Attributes:
        compute: returns its value.
        words: the meaning of a high value, for the card.
        version: changes when the same texts get a different value.
    """

    compute: Callable[[JudgeInput], float]
    words: str
    version: int = 1


def number_right(judged: JudgeInput) -> float:
    """Return 1 if the answer has the numbers of the gold answer (`quantities.numerical_verdict`), else 0."""
    return float(_number_verdict(judged) == 1.0)


def number_wrong(judged: JudgeInput) -> float:
    """Return 1 if the answer has other numbers than the gold answer (`quantities.numerical_verdict`), else 0."""
    return float(_number_verdict(judged) == 0.0)


def number_none(judged: JudgeInput) -> float:
    """Return 1 if the rule for numbers does not decide (`quantities.numerical_verdict`), else 0."""
    return float(_number_verdict(judged) is None)


def contains(judged: JudgeInput) -> float:
    """Return 1 if the answer contains every slot of the gold answer, as in ``accuracy``, else 0; 0 without gold."""
    return float(bool(judged.gold) and is_right(judged.sample.case.instance, judged.answer))


def token_f1(judged: JudgeInput) -> float:
    """Return the metric ``token_f1``, 0..1; 0 without gold."""
    return token_f1_score(judged.sample).value or 0.0


def rouge_l(judged: JudgeInput) -> float:
    """Return the metric ``rouge_l``, 0..1; 0 without gold."""
    return rouge_l_score(judged.sample).value or 0.0


def refuses(judged: JudgeInput) -> float:
    """Return 1 for a plain refusal (`text.refusals.refuses`), else 0."""
    return float(refuses_plainly(judged.answer))


def refusals(judged: JudgeInput) -> float:
    """Return the number of clauses that refuse, 0..5."""
    return float(min(MAX_REFUSALS, refusal_clauses(judged.answer)))


def length(judged: JudgeInput) -> float:
    """Return ln(1 + characters of the answer), 0 or more."""
    return math.log1p(len(judged.answer))


def gold_length(judged: JudgeInput) -> float:
    """Return ln(1 + characters of the gold answer), 0 or more."""
    return math.log1p(len(judged.gold_text))


def yes_no(judged: JudgeInput) -> float:
    """Return 1 if the answer opens with yes or no, in English or Chinese, else 0."""
    return float(_polarity(judged.answer) is not None)


def same_polarity(judged: JudgeInput) -> float:
    """Return 1 if the answer and the gold answer both open with yes or both with no, else 0."""
    polarity = _polarity(judged.answer)
    return float(polarity is not None and polarity == _polarity(judged.gold_text))


def gold_has_number(judged: JudgeInput) -> float:
    """Return 1 if the gold answer has a digit or a Chinese numeral, else 0.

    The numeral 一 does not count: it is also part of many other words.
    """
    return float(_DIGIT.search(judged.gold_text) is not None)


RULES: Mapping[str, Feature] = {
    "number_right": Feature(number_right, "the answer has the numbers of the gold answer"),
    "number_wrong": Feature(number_wrong, "the answer has other numbers than the gold answer"),
    "number_none": Feature(number_none, "the rule for numbers does not decide"),
    "contains": Feature(contains, "the answer contains the gold answer"),
    "token_f1": Feature(token_f1, "the answer has the words of the gold answer, and few others"),
    "rouge_l": Feature(rouge_l, "the answer has the words of the gold answer in its order"),
    "refuses": Feature(refuses, "the answer is a plain refusal"),
    "refusals": Feature(refusals, "the answer has many clauses that refuse"),
    "length": Feature(length, "the answer is long"),
    "gold_length": Feature(gold_length, "the gold answer is long"),
    "yes_no": Feature(yes_no, "the answer opens with yes or no"),
    "same_polarity": Feature(same_polarity, "the answer and the gold answer open with the same of yes and no"),
    "gold_has_number": Feature(gold_has_number, "the gold answer has a number"),
}
"""Name -> feature by rule, in the order of a judge's weights."""

COSINES: Mapping[str, tuple[Callable[[JudgeInput], str], Callable[[JudgeInput], str], str]] = {
    "cos_question_answer": (
        lambda judged: judged.question,
        lambda judged: judged.answer,
        "the answer is about the subject of the question",
    ),
    "cos_gold_answer": (
        lambda judged: judged.gold_text,
        lambda judged: judged.answer,
        "the answer is close to the gold answer",
    ),
    "cos_question_gold": (
        lambda judged: judged.question,
        lambda judged: judged.gold_text,
        "the gold answer is about the subject of the question",
    ),
}
"""Name -> the two texts of a cosine, and the meaning of a high value; cosines need an embedding model."""


def rule_values(judged: JudgeInput) -> list[float]:
    """Return the value of each feature of `RULES`, in order."""
    return [feature.compute(judged) for feature in RULES.values()]


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the cosine of two vectors, -1..1, to four decimals; NaN if one has no direction or is not finite.

    The other texts of a batch change the vectors a little. Rounding removes most of that noise, but sometimes the
    fourth decimal changes.
    """
    size = math.hypot(*one) * math.hypot(*other)
    if not 0 < size < math.inf:
        return math.nan
    return round(max(-1.0, min(1.0, math.fsum(map(mul, one, other)) / size)), 4)


@lru_cache(maxsize=64)
def _number_verdict(judged: JudgeInput) -> float | None:
    return numerical_verdict(judged.sample.case.instance, judged.answer)


def _polarity(text: str) -> str | None:
    """Return "yes" or "no" if a text opens with it."""
    opening = _OPENING.match(text)
    return None if opening is None else opening.lastgroup
