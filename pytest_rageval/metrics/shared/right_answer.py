"""Decide whether an answer is right: it contains the gold answer, or states its numbers."""

from __future__ import annotations

import re
from functools import lru_cache

from pytest_rageval.metrics.shared.matching import slot_hits
from pytest_rageval.model.case import Instance
from pytest_rageval.text.notation import join_thousands

__all__ = ["answer_hits", "is_right"]

_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def is_right(instance: Instance, text: str) -> bool:
    """Return whether ``text`` meets every slot of the gold answer (`answer_hits`)."""
    return None not in answer_hits(instance, text)


def answer_hits(instance: Instance, text: str) -> tuple[str | None, ...]:
    """Return for each slot the first alias that ``text`` meets, or None.

    A text meets an alias that it contains (`matching.contains`). It also meets an alias with digits if it states the
    same numbers by the rule of ``numerical_accuracy`` (`quantities.alias_verdict`), and all other words of the alias
    are in the question or the answer (`same_words.says_words`). So "It was about 20 billion dollars" meets "The gain
    was $20 billion" if the question has the word gain, but "Ronaldo, with 35 goals" does not meet "Messi, 35 goals".
    For speed, an alias is skipped if some of its digits are in neither the question nor the answer.
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
    with_digits = [alias for alias in slot if _digits(alias) and _digits(alias) <= _digits(question) | _digits(answer)]
    if not with_digits:
        return None
    from pytest_rageval.metrics.shared.quantities import alias_verdict  # its patterns take time to compile
    from pytest_rageval.metrics.shared.same_words import says_words

    candidates = (alias for alias in with_digits if says_words(question, alias, answer))
    return next((alias for alias in candidates if alias_verdict(question, alias, answer) == 1.0), None)


@lru_cache(maxsize=64)
def _digits(text: str) -> frozenset[str]:
    """Return the digits of each number of a text, without separators and without leading and trailing zeros."""
    numbers = _NUMBER.findall(join_thousands(text))
    return frozenset(number.replace(".", "").strip("0") for number in numbers)
