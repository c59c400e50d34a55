"""A judge's verdict on one answer, and the votes that it was made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Verdict", "Vote"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge said of one answer. Never both a label and a problem, never neither.

    Attributes:
        label: the label or the number that was chosen; None when there is none.
        rationale: the judge's reason in its own words, or "".
        replies: what the model replied, word for word, the last one last.
        problem: why there is no label ("parse_error: ...", "judge_unavailable", "not_applicable: ...").
        votes: what it was made of, where more than one was asked for.
        by: who decided: the judge, or a rule that was sure without it.
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
    """What a model said when it was asked for a verdict once among several times.

    Attributes:
        model: its name, as the setting has it.
        verdict: what it said.
        repeat: which time it was asked the same, from 1.
        swapped: whether the labels and the parts that it was shown stood in the other order.
    """

    model: str
    verdict: Verdict
    repeat: int = 1
    swapped: bool = False
