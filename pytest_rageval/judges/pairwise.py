"""Compare two answers in both orders, which cancels position bias."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_rageval.judges.prompted import PromptedJudge
from pytest_rageval.judges.wording import PackagedText
from pytest_rageval.model.chat import ChatModel
from pytest_rageval.model.sample import Sample
from pytest_rageval.model.verdict import Verdict

__all__ = ["BUILTIN", "PREFERENCE", "BothOrders", "in_both_orders"]

BUILTIN: Mapping[str, str] = {"preference": "pytest_rageval.judges.pairwise:PREFERENCE"}
"""Name of a judge of pairs -> its ``"module:attribute"``."""

PREFERENCE = PromptedJudge(
    "preference", PackagedText("preference", "criteria"), shows=("question", "gold", "answer"), pair=True
)
"""The default judge of pairs. It prefers correct answers, then complete answers, then clear answers."""

_FOR_A: Mapping[object, float] = {"A": 1.0, "tie": 0.5, "B": 0.0}


@dataclass(frozen=True, slots=True)
class BothOrders:
    """A judge's verdicts on two answers in both orders.

    Attributes:
        straight: the verdict with the first answer as A.
        turned: the verdict with the second answer as A.
    """

    straight: Verdict
    turned: Verdict

    @property
    def problem(self) -> str | None:
        """The problem of the first verdict without a label; None if both have one."""
        return self.straight.problem or self.turned.problem

    @property
    def agree(self) -> bool:
        """Whether both verdicts prefer the same answer, or both are a tie."""
        return self.problem is None and _FOR_A[self.straight.label] == 1 - _FOR_A[self.turned.label]

    @property
    def value(self) -> float | None:
        """1 if the first answer wins in both orders, 0 if the second one does, else 0.5; None if there is a problem.

        If the verdicts disagree, the order decided them, so the pair is a tie.
        """
        if self.problem is not None:
            return None
        return _FOR_A[self.straight.label] if self.agree else 0.5

    @property
    def for_first_shown(self) -> float | None:
        """Share in 0..1 of verdicts for the answer shown first; a tie counts half. Without position bias it is 0.5."""
        if self.problem is not None:
            return None
        return (_FOR_A[self.straight.label] + _FOR_A[self.turned.label]) / 2


async def in_both_orders(judge: PromptedJudge, one: Sample, other: Sample, model: ChatModel) -> BothOrders:
    """Return a judge's verdicts on two answers to one case; errors of the model propagate."""
    return BothOrders(await judge.compare(one, other, model), await judge.compare(other, one, model))
