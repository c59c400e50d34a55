"""A judge's verdict on one answer, and the votes behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pytest_rageval.model.storage import NEEDED, Amount, Bounds, Share, stored

__all__ = ["Verdict", "Vote"]

_TEXT = stored(always=True, private="removed")


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's verdict on one answer: either a label or a problem.

    Attributes:
        label: the judge's label or number; None if there is none.
        rationale: the judge's reason in its own words, or "".
        replies: the model's replies, word for word, oldest first.
        problem: why there is no label ("parse_error: ...", "judge_unavailable", "not_applicable: ...").
        votes: the votes that the verdict combines, if there were several.
        by: who decided: the judge (a model), a rule that needs no judge, or a local judge (trained, on this machine).
        confidence: the local judge's probability of its label, even if it passed the answer on to a model; 0 if it had
            no label; None without a local judge.
        unlike: whether the answer is unlike all answers that the local judge was trained on.
        cost_usd: price of the model calls for an answer that a local judge passed on, in US dollars; None if the price
            is unknown or the answer was not passed on.
    """

    label: str | float | None = field(
        default=None,
        metadata=stored(always=True, needed=True, schema={"type": ["string", "number", "boolean", "null"]}),
    )
    rationale: str = field(default="", metadata=_TEXT)
    replies: tuple[str, ...] = field(default=(), metadata=_TEXT)
    problem: Annotated[str, Bounds(items=1)] | None = field(default=None, metadata=stored(private="kind"))
    votes: Annotated[tuple[Vote, ...], Bounds(items=2)] = ()
    by: Literal["judge", "rule", "local"] = "judge"
    confidence: Share | None = None
    unlike: bool = False
    cost_usd: Amount | None = None

    def __post_init__(self) -> None:
        if (self.label is None) == (not self.problem):
            raise ValueError("a Verdict has either a label or a problem")

    def _adapt_written(self, plain: dict[str, Any]) -> None:
        if plain["label"] is None:
            plain.setdefault("problem", "not_finite")

    @staticmethod
    def _adapt_read(plain: Mapping[str, Any]) -> Mapping[str, Any]:
        problem = plain.get("problem", plain.get("reason")) if plain["label"] is None else None
        return {**plain, "problem": problem}


@dataclass(frozen=True, slots=True)
class Vote:
    """One of several verdicts on the same answer.

    Attributes:
        model: the model's name, as in the setting.
        verdict: the model's verdict.
        repeat: number of the repeat, from 1.
        swapped: whether the labels and the parts of the prompt were in reverse order.
    """

    model: str
    verdict: Verdict = field(metadata=stored(inline=True))
    repeat: Annotated[int, Bounds(1)] = field(default=1, metadata=NEEDED)
    swapped: bool = field(default=False, metadata=NEEDED)
