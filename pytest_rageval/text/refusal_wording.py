"""Patterns that detect refusals and answers in one language."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Wording"]


@dataclass(frozen=True, slots=True)
class Wording:
    """Patterns of refusals and answers in one language; each is searched in a single clause.

    Attributes:
        clauses: splits a text into clauses.
        refusal: the question cannot be answered, or the sources do not say.
        verdict: the text begins with yes or no.
        aside: neither an answer nor a refusal: an apology, advice, an offer, a need, a method, the topic of the
            sources, or that they are wrong.
        turn: turns from a refusal to an answer, or concludes or estimates one.
        value: contains a figure that may be an answer.
        elsewhere: quotes a source other than the first, which counts as an answer.
        closing: concludes that the question cannot be answered.
    """

    clauses: Callable[[str], list[str]]
    refusal: re.Pattern[str]
    verdict: re.Pattern[str]
    aside: re.Pattern[str]
    turn: re.Pattern[str]
    value: re.Pattern[str]
    elsewhere: re.Pattern[str]
    closing: re.Pattern[str]
