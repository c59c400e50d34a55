"""Whether an answer says the gold answer: by containment, or by its numbers."""

from __future__ import annotations

import re
from functools import lru_cache

from pytest_rageval.metrics.matching import fold, slot_hits
from pytest_rageval.model.case import Instance
from pytest_rageval.text.language import has_chinese
from pytest_rageval.text.notation import join_thousands
from pytest_rageval.text.words import once_a_text, words

__all__ = ["answer_hits", "is_right"]

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_NAME = re.compile(r"[^\W\d_]*[A-Z][^\W\d_]*")
_NO_NAME = re.compile(
    r"A|About|Approximately|Are|Around|As|At|By|For|From|In|Is|It|Its|Nearly|On|Only|Over|Roughly|That|The|There|This"
    r"|Total|Under|Was|Were|CNY|EUR|GBP|HK|HKD|JPY|RMB|US|USD"
    r"|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)(?:[a-z]*y|[a-z]*ber|ch|il|e|ust)?"
)
"""Words with a capital letter that name nothing, or belong to a quantity."""


def is_right(instance: Instance, text: str) -> bool:
    """Return whether ``text`` meets every slot of the gold answer (`answer_hits`)."""
    return None not in answer_hits(instance, text)


def answer_hits(instance: Instance, text: str) -> tuple[str | None, ...]:
    """Return for each slot the first alias that ``text`` meets, or None.

    It meets an alias that it contains (`matching.contains`), or an alias with digits whose numbers it has. The second
    is decided as in ``numerical_accuracy`` (`quantities.alias_verdict`): for "The gain was $20 billion", the answer "It
    was about 20 billion dollars" is right. All names of such an alias also have to be in the question or the answer,
    so "Ronaldo, with 35 goals" does not meet "Messi, 35 goals". Names are words with a capital letter, or of two Han
    characters or more. An alias with digits that are in neither of the two is not looked at, for speed.
    """
    hits = slot_hits(instance.gold, text)
    if None not in hits:
        return hits
    return tuple(
        _by_numbers(instance.question, slot, text) if hit is None else hit
        for slot, hit in zip(instance.gold, hits, strict=True)
    )


@lru_cache(maxsize=64)
def _by_numbers(question: str, slot: tuple[str, ...], answer: str) -> str | None:
    numeric = [alias for alias in slot if _digits(alias) and _digits(alias) <= _digits(question) | _digits(answer)]
    if not numeric:
        return None
    from pytest_rageval.metrics.quantities import alias_verdict  # its patterns take time to compile

    said = f"{fold(question)}\n{fold(answer)}"
    named = (alias for alias in numeric if all(_is_in(name, said) for name in _names(alias)))
    return next((alias for alias in named if alias_verdict(question, alias, answer) == 1.0), None)


@lru_cache(maxsize=64)
def _digits(text: str) -> frozenset[str]:
    """Return the digits of each number of a text, without its separators and the zeros around them."""
    found = _NUMBER.findall(join_thousands(text))
    return frozenset(number.replace(".", "").strip("0") for number in found)


def _is_in(name: str, text: str) -> bool:
    """Return whether a word of ``text`` begins with ``name``, or is it where it is short."""
    if has_chinese(name):
        return name in text
    return re.search(rf"\b{re.escape(name)}" + ("" if len(name) > 2 else r"(?![^\W\d_])"), text) is not None


@once_a_text
def _names(alias: str) -> frozenset[str]:
    from pytest_rageval.text.quantities import without_numbers

    plain = without_numbers(alias)
    chinese = [word for word in words(plain) if len(word) > 1 and has_chinese(word)] if has_chinese(plain) else []
    latin = [word for word in _NAME.findall(plain) if not _NO_NAME.fullmatch(word)]
    return frozenset(map(fold, [*chinese, *latin]))
