"""A judge's verdict on one answer, and the votes behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Verdict", "Vote"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's verdict on one answer: either a label or a problem.

    Attributes:
        label: the judge's label or number; None if there is none.
        rationale: the judge's reason in its own words, or "".
        replies: the model's replies, word for word, oldest first.
        problem: why there is no label ("parse_error: ...", "judge_unavailable", "not_applicable: ...").
        votes: the votes behind the verdict, if there were several.
        by: who decided: the judge, or a rule that needs no judge.
    """

    label: str | float | None = None
    rationale: str = ""
    replies: tuple[str, ...] = ()
    problem: str | None = None
    votes: tuple[Vote, ...] = ()
    by: Literal["judge", "rule"] = "judge"

    def __post_init__(self) -> None:
        if (self.label is None) == (not self.problem):
            raise ValueError("a Verdict has either a label or a problem")


@dataclass(frozen=True, slots=True)
class Vote:
    """One of several verdicts on the same answer.

    Attributes:
        model: the model's name, as in the setting.
        verdict: the model's verdict.
        repeat: number of the repeat, from 1.
        swapped: whether the labels and the prompt's parts were in reverse order.
    """

    model: str
    verdict: Verdict
    repeat: int = 1
    swapped: bool = False
