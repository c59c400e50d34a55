"""Which of two judges is better on the same questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_rageval.analysis.statistics import Interval, clustered_interval
from pytest_rageval.judge_training.figures import Predicted
from pytest_rageval.local_judges.head import chosen

__all__ = ["KindComparison", "compare_kinds"]


@dataclass(frozen=True, slots=True)
class KindComparison:
    """The accuracy of the model minus that of the head, over the same answers.

    Attributes:
        n: number of answers.
        head, llm: their accuracies, 0..1.
        ci95: the interval of the difference over questions; None if there are too few.
    """

    n: int
    head: float
    llm: float
    ci95: Interval | None

    @property
    def better(self) -> str:
        """The kind that is better, "head" or "llm"; "" if they are not separable."""
        if self.ci95 is None or self.ci95[0] <= 0 <= self.ci95[1]:
            return ""
        return "llm" if self.ci95[0] > 0 else "head"


def compare_kinds(head: Sequence[Predicted], llm: Sequence[Predicted], values: Sequence[float]) -> KindComparison:
    """Compare two judges by their predictions for the same answers, at least one, in the same order."""
    by_unit: dict[str, list[float]] = {}
    rights = [[_is_right(each, values) for each in side] for side in (head, llm)]
    for prediction, one, other in zip(head, *rights, strict=True):
        by_unit.setdefault(prediction.example.unit, []).append(other - one)
    n = len(head)
    interval = clustered_interval(list(by_unit.values()), binary=False, low=-1.0)
    return KindComparison(n, sum(rights[0]) / n, sum(rights[1]) / n, interval)


def _is_right(prediction: Predicted, values: Sequence[float]) -> float:
    return float(values[chosen(prediction.above)[0]] == prediction.example.value)
