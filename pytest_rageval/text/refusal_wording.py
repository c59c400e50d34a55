"""The patterns by which one language refuses and answers."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Wording"]


@dataclass(frozen=True, slots=True)
class Wording:
    """How one language refuses and answers; the patterns are searched in single clauses.

    Attributes:
        clauses: splits a text into clauses.
        refusal: says that the question cannot be answered, or that the sources do not say.
        verdict: begins a text that answers yes or no.
        aside: neither answers nor refuses: an apology, advice, an offer, a need, a method, what the
            sources are about, that they are wrong.
        turn: turns from a refusal to an answer, or concludes or estimates one.
        value: holds a figure that may be an answer.
        elsewhere: quotes another source than the first: it answers.
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
