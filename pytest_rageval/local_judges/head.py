"""The head of a local judge: features to a label, by logistic regression; no library is needed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

__all__ = ["Decision", "Head", "Scaling", "Threshold", "chosen", "class_shares"]


@dataclass(frozen=True, slots=True)
class Scaling:
    """How the features of one language are standardised.

    Attributes:
        means: mean of each feature over the training answers.
        sds: standard deviation of each feature, 1 if it is constant.
    """

    means: tuple[float, ...]
    sds: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Threshold:
    """One logistic regression: whether a label is above one of the classes.

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
        above: for each class except the highest, the probability that the label is above it; never ascending.
    """

    label: str | float
    probability: float
    confidence: float
    above: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Head:
    """Standardised features to probabilities: one logistic regression for each class except the highest.

    Attributes:
        scalings: language -> how its features are standardised.
        thresholds: for each class except the highest, in order: is the label above it?
    """

    scalings: Mapping[str, Scaling]
    thresholds: tuple[Threshold, ...]

    def above(self, values: Sequence[float], language: str) -> tuple[float, ...]:
        """Return the probabilities that the label is above each class but the highest, made monotone.

        Formula: 1 / (1 + exp(-(b + sum(w (x - mean) / sd)))), then the running minimum: to be above a class is never
        likelier than to be above the one below it.
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
    """Return the probability of each class, lowest first, from the probabilities to be above each."""
    bounds = [1.0, *above, 0.0]
    return [upper - lower for upper, lower in pairwise(bounds)]


def chosen(above: Sequence[float]) -> tuple[int, float]:
    """Return the likeliest class and its probability; of equal ones the higher."""
    shares = class_shares(above)
    at = max(range(len(shares)), key=lambda each: (shares[each], each))
    return at, shares[at]


def _logistic(score: float) -> float:
    return 0.5 + 0.5 * math.tanh(score / 2)
