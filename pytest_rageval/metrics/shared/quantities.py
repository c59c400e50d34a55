"""Compare the numbers of an answer with those of the gold answer, if they are unambiguous."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

from pytest_rageval.metrics.shared.matching import contains, fold
from pytest_rageval.metrics.shared.same_quantity import as_written, read_quantities, relation
from pytest_rageval.model.case import Instance
from pytest_rageval.text.numerals import in_digits
from pytest_rageval.text.quantities import DATE, TIME, UNKNOWN, Quantity, in_names
from pytest_rageval.text.unicode import nfkc

__all__ = ["alias_verdict", "has_numeric_gold", "numerical_verdict"]

_MAX_PLAIN_ALIAS = 60
"""Maximum characters of an alias that is mainly its number; a longer one may mention a number in passing."""

_MAX_ANSWER = 10_000
"""Maximum characters of an answer; the rule does not decide longer ones."""

_VAGUE = re.compile(
    r"\b(?:half|quarters?|thirds?|dozens?|double[ds]?|doubling|triple[ds]?|twice|once|none|nil|one|first|second|couple"
    r"|(?:an?|few|several|some|many) (?:hundred|thousand|million|billion|percent)"
    r"|(?:hundred|thousand|million|billion)s)\b"
    r"|(?-i:[IVX]{2,})\b|[零〇二三四五六七八九十两半几]|一[成共半百千万亿]|分之|翻[番倍]"
    r"|(?<![\d百千万亿])(?:百(?!分)|千(?![克米瓦卡])|[万亿])"
    r"|\A[^=]*\d ?[+*×÷/] ?\d[^=]*\Z",
    re.IGNORECASE,
)
"""Numbers in words, and sums without a result, which `text.quantities` does not read."""

_ZERO_WORDS = re.compile(
    r"\b(?:no|none|nothing|nobody|never|neither|nil|free|without|waived)\b"
    r"|(?:\bnot|n't)\b(?! (?:have access|provided)\b)|[不没沒未无無非免]",
    re.IGNORECASE,
)
"""Words that may mean that a quantity is zero."""

_QUALIFIERS = {  # words that change what a number means
    "unable": r"\b(?:cannot|can ?not|can't|unable|unknown|insufficient)\b|无法|不能|不足以|不详",
    "not": r"\b(?:not|never|neither|nor|without|instead|rather than|incorrect|wrong)\b|n't\b|不|没|未|非|无",
    "more": r"\b(?:at least|more than|over|above|exceed\w*|greater|higher|minimum)\b|[>≥]|至少|以上|超|高于|大于|多于"
    r"|最低|[\d%万亿千百十][多余]",
    "less": r"\b(?:at most|less than|under|below|up to|fewer|lower|maximum)\b|[<≤]|至多|以下|以内|低于|小于|少于|不足"
    r"|最多|最高",
    "down": r"\b(?:decreas|declin|fell|fall|drop|down|loss|lost|reduc|shr[aiu]nk|negative|minus)|下降|下跌|下滑"
    r"|[减降亏跌负]",
}
_QUALIFIER_PATTERNS = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in _QUALIFIERS.items()}


def has_numeric_gold(instance: Instance) -> bool:
    """Return whether ``numerical_accuracy`` applies: an alias states a quantity that is not in the question.

    An alias of up to three words and 20 characters counts even if the question states its quantity. The result depends
    on the record only, so it is the same for every system.
    """
    return any(_new_quantities(instance.question, alias) for slot in instance.gold for alias in slot)


def numerical_verdict(instance: Instance, answer: str) -> float | None:
    """Return 1.0 if an answer states the numbers of the gold answer, 0.0 if it states others, None if undecided.

    The answer must meet one alias of every slot. Slots without numbers are ignored; without any number the result is
    None. Quantities are compared after conversion (44bn is 44 billion, 5亿元 is 500 million yuan). A number without a
    unit gets the unit of the other number, except for ratios: only 5% and 0.05 are the same. An unknown word after a
    number counts as a separate unit: 5 votes and 5 seats are undecided. A date may be more precise than the gold date.
    Numbers are the same if they are equal, or if the gold number has three digits or more and is the rounded form of
    the answer's number: 24.258% meets 24.26%. But 5.21% for 5.2%, 4.15% for 4.2% and 12,345 for 12,300 are undecided.

    The result is 1.0 only if the answer has no other quantity of that unit ("rose from 5% to 7%" is undecided), and if
    "not", "more than", "less than" and "fell" are on both sides or on neither. It is 0.0 only if no number of the
    answer, with any unit, sign or power of ten, could be the gold number after rounding. The result is also undecided
    if

    - the gold answer has several quantities of one unit;
    - the answer has numbers in words, signs (¼, Ⅻ), names or ordinals that cannot be read, or a sum without a result;
    - the answer says "no" or "free", and the gold number is 0;
    - the numbers differ, but the alias has more than 60 characters and may mention its number in passing;
    - the answer has more than 10,000 characters.
    """
    slots = [slot for slot in instance.gold if any(_new_quantities(instance.question, alias) for alias in slot)]
    if not slots or len(answer) > _MAX_ANSWER:
        return None
    verdicts = [_slot_verdict(instance.question, slot, answer) for slot in slots]
    if 0.0 in verdicts:
        return 0.0
    return None if None in verdicts else 1.0


def _slot_verdict(question: str, slot: Iterable[str], answer: str) -> float | None:
    verdicts = {alias_verdict(question, alias, answer) for alias in slot}
    return 1.0 if 1.0 in verdicts else None if None in verdicts else 0.0


def alias_verdict(question: str, alias: str, answer: str) -> float | None:
    """Return 1.0 if an answer states the numbers of one alias, 0.0 if it states others, None if undecided."""
    if len(answer) > _MAX_ANSWER:
        return None
    gold = _new_quantities(question, alias)
    if fold(alias) == fold(answer):
        return 1.0
    if not gold:
        return None if contains(answer, alias) else 0.0
    if any(relation(one, other) != "incomparable" for one, other in combinations(gold, 2)):
        return None
    in_question = read_quantities(question)
    new = [one for one in dict.fromkeys(read_quantities(answer)) if one in gold or one not in in_question]
    verdicts = [_quantity_verdict(one, new, answer) for one in gold]
    if all(verdict == 1.0 for verdict in verdicts):
        return 1.0 if _same_qualifiers(question, alias, answer) else None
    return 0.0 if len(alias) <= _MAX_PLAIN_ALIAS and all(verdict == 0.0 for verdict in verdicts) else None


def _quantity_verdict(gold: Quantity, quantities: list[Quantity], answer: str) -> float | None:
    """Return the verdict on one gold quantity, from the new quantities of the answer."""
    relations = [(one, relation(gold, one)) for one in quantities]
    of_unit = [kind for one, kind in relations if one.unit in (gold.unit, UNKNOWN)]
    deciding = of_unit if "same" in of_unit else [kind for _, kind in relations if kind != "incomparable"]
    if "same" in deciding:
        return 1.0 if set(deciding) == {"same"} else None
    could_be = any(
        relation(replace(gold, unit=""), replace(one, unit="")) != "different"
        or relation(as_written(gold), as_written(one)) != "different"
        for one, kind in relations
        if kind == "incomparable"
    )
    if "undecided" in deciding or could_be or _may_be_unread(gold, answer):
        return None
    if gold.low == gold.high == 0 and _ZERO_WORDS.search(answer):
        return None
    if deciding:
        return 0.0
    return None if quantities or gold.unit in (DATE, TIME) else 0.0


def _may_be_unread(gold: Quantity, answer: str) -> bool:
    """Return whether the answer may state the gold number in a form that is not read, such as in a name or in words."""
    quantities_in_names = in_names(answer)
    if quantities_in_names and not read_quantities(answer):
        return True
    if any(_same_digits(number, one.low) for one in quantities_in_names for number in (gold.low, as_written(gold).low)):
        return True
    signs = (c for c in in_digits(answer) if c.isnumeric() and not c.isdigit() and c not in "一百千万亿")
    return any(signs) or _VAGUE.search(in_digits(nfkc(answer))) is not None


def _same_digits(one: Fraction, other: Fraction) -> bool:
    """Return whether two numbers differ only by a power of ten, like 5T and 5 trillion."""
    if not one or not other:
        return one == other
    return {str(part).rstrip("0") for part in abs(one / other).as_integer_ratio()} == {"1"}


def _new_quantities(question: str, alias: str) -> list[Quantity]:
    """Return the distinct quantities of an alias that are not in the question; all of them for a bare alias."""
    quantities = dict.fromkeys(read_quantities(alias))
    new = [one for one in quantities if one not in read_quantities(question)]
    return new if new or not _is_bare(alias) else list(quantities)


def _is_bare(alias: str) -> bool:
    """Return whether an alias is hardly more than one quantity."""
    return len(alias) <= 20 and len(alias.split()) <= 3


def _same_qualifiers(question: str, alias: str, answer: str) -> bool:
    """Return whether alias and answer have the same qualifiers, apart from those of the question."""
    in_question, in_gold, in_answer = _qualifiers(question), _qualifiers(alias), _qualifiers(answer)
    return in_gold ^ in_answer <= in_question


def _qualifiers(text: str) -> frozenset[str]:
    return frozenset(name for name, pattern in _QUALIFIER_PATTERNS.items() if pattern.search(nfkc(text)))
