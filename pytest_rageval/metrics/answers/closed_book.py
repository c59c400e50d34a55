"""Accuracy of the model's closed-book answer: to the question alone, without passages."""

from __future__ import annotations

from pytest_rageval.metrics.answers.containment import NO_GOLD
from pytest_rageval.metrics.shared.right_answer import is_right
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.sample import Sample

__all__ = ["CLOSED_BOOK_ACCURACY", "closed_book_accuracy"]


def closed_book_accuracy(sample: Sample) -> Score:
    """Score whether the model knows the answer without any passage.

    Formula: `containment.accuracy` of the model's answer to the question alone: 1 if it meets each gold slot, else 0.
    The system's own answer does not count.
    Range: 0 or 1, higher is better. Empty input: an empty answer scores 0; no gold is not applicable; without a model
    the reason is model_unavailable.
    Source: RGB (Chen et al., AAAI 2024), accuracy without documents, the starting point of its counterfactual testbed.
    """
    instance = sample.case.instance
    if not instance.gold:
        return NO_GOLD
    if sample.closed_book is None:
        return Score(reason="model_unavailable")
    return Score(float(is_right(instance, sample.closed_book.text)))


CLOSED_BOOK_ACCURACY = Metric("closed_book_accuracy", closed_book_accuracy, binary=True, closed_book=True)
