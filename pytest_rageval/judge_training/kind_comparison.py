"""Compare two kinds of judges, head and language model, on the same answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_rageval.analysis.statistics import Interval, clustered_interval
from pytest_rageval.judge_training.figures import Prediction
from pytest_rageval.local_judges.head import likeliest_class

__all__ = ["KindComparison", "compare_kinds"]


@dataclass(frozen=True, slots=True)
class KindComparison:
    """The accuracy of a head and of a language model on the same answers.

    Attributes:
        n: number of answers.
        head, llm: their accuracies, 0..1.
        ci95: the interval of the difference llm - head over questions; None if there are too few.
    """

    n: int
    head: float
    llm: float
    ci95: Interval | None

    @property
    def better(self) -> str:
        """The better kind, "head" or "llm"; "" if the difference is not significant."""
        if self.ci95 is None or self.ci95[0] <= 0 <= self.ci95[1]:
            return ""
        return "llm" if self.ci95[0] > 0 else "head"


def compare_kinds(head: Sequence[Prediction], llm: Sequence[Prediction], values: Sequence[float]) -> KindComparison:
    """Compare two judges by their predictions for the same answers, at least one, in the same order."""
    by_unit: dict[str, list[float]] = {}
    hits = [[_is_right(each, values) for each in side] for side in (head, llm)]
    for prediction, one, other in zip(head, *hits, strict=True):
        by_unit.setdefault(prediction.example.unit, []).append(other - one)
    n = len(head)
    interval = clustered_interval(list(by_unit.values()), binary=False, low=-1.0)
    return KindComparison(n, sum(hits[0]) / n, sum(hits[1]) / n, interval)


def _is_right(prediction: Prediction, values: Sequence[float]) -> float:
    return float(values[likeliest_class(prediction.above)[0]] == prediction.example.value)
