"""The head of a local judge: logistic regression from features to a label, in pure Python."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

__all__ = ["Decision", "Head", "Scaling", "Threshold", "class_shares", "likeliest_class"]


@dataclass(frozen=True, slots=True)
class Scaling:
    """Mean and standard deviation of the features of one language, to standardise them.

    Attributes:
        means: mean of each feature over the training answers.
        sds: standard deviation of each feature, 1 if it is constant.
    """

    means: tuple[float, ...]
    sds: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Threshold:
    """One logistic regression, which decides whether a label is above one of the classes.

    Attributes:
        intercept: the constant.
        weights: one for each standardised feature.
    """

    intercept: float
    weights: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Decision:
    """A local judge's decision on one answer.

    Attributes:
        label: the label, in the words or numbers of the metric's judge.
        probability: the probability of the highest class, 0..1.
        confidence: the probability of the label, 0..1; with two classes max(p, 1 - p).
        above: for each class except the highest, the probability that the label is above it, in descending order.
    """

    label: str | float
    probability: float
    confidence: float
    above: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Head:
    """Computes probabilities from features, with one logistic regression for each class except the highest.

    Attributes:
        scalings: language -> the scaling of its features.
        thresholds: one for each class except the highest, from the lowest class.
    """

    scalings: Mapping[str, Scaling]
    thresholds: tuple[Threshold, ...]

    def above(self, values: Sequence[float], language: str) -> tuple[float, ...]:
        """Return the probability that the label is above each class except the highest, in descending order.

        Formula: 1 / (1 + exp(-(b + sum(w (x - mean) / sd)))), then the running minimum, because a label above a class
        is also above all lower classes.
        """
        scaling = self.scalings[language]
        scaled = [(x - mean) / sd for x, mean, sd in zip(values, scaling.means, scaling.sds, strict=True)]
        probabilities: list[float] = []
        for each in self.thresholds:
            score = each.intercept + math.fsum(w * x for w, x in zip(each.weights, scaled, strict=True))
            probabilities.append(min([_logistic(score), *probabilities[-1:]]))
        return tuple(probabilities)

    def distance(self, values: Sequence[float], language: str) -> float:
        """Return how far the most unusual feature lies from the training mean, in standard deviations."""
        scaling = self.scalings[language]
        return max(abs(x - mean) / sd for x, mean, sd in zip(values, scaling.means, scaling.sds, strict=True))


def class_shares(above: Sequence[float]) -> list[float]:
    """Return the probability of each class, lowest first, from the probabilities that the label is above each."""
    bounds = [1.0, *above, 0.0]
    return [upper - lower for upper, lower in pairwise(bounds)]


def likeliest_class(above: Sequence[float]) -> tuple[int, float]:
    """Return the likeliest class and its probability; ties go to the higher class."""
    shares = class_shares(above)
    at = max(range(len(shares)), key=lambda each: (shares[each], each))
    return at, shares[at]


def _logistic(score: float) -> float:
    return 0.5 + 0.5 * math.tanh(score / 2)
