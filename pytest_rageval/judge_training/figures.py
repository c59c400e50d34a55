"""Compare a local judge's predictions with people's labels; intervals are over questions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from pytest_rageval.analysis.people.agreement import Agreement, Rating, agreement
from pytest_rageval.analysis.statistics import Interval, clustered_interval
from pytest_rageval.judge_training.examples import Example
from pytest_rageval.local_judges.head import likeliest_class
from pytest_rageval.local_judges.judge_model import CONFIDENCES, Certainty

__all__ = ["BINS", "Bin", "ClassFigures", "Figures", "Prediction", "SystemFigures", "figures_of"]

BINS = 10


@dataclass(frozen=True, slots=True)
class Prediction:
    """A labelled answer and the judge's prediction of its label.

    Attributes:
        example: the labelled answer.
        above: for each class except the highest, the probability that the label is above it.
    """

    example: Example
    above: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class ClassFigures:
    """The judge's recall of one label.

    Attributes:
        label: the label.
        n: number of answers with this label from people.
        recall: share of these answers that get the same label from the judge, 0..1; None without an answer.
        ci95: the interval over questions; None if there are too few.
    """

    label: str | float
    n: int
    recall: float | None
    ci95: Interval | None


@dataclass(frozen=True, slots=True)
class SystemFigures:
    """Agreement and bias of the judge on the answers of one system.

    Attributes:
        system: its name, or "".
        agreement: its agreement with people.
        judged: the judge's mean, 0..1.
        people: people's mean, 0..1.
        bias: judged - people, -1..1.
        ci95: the interval of the bias over questions; None for a single question.
    """

    system: str
    agreement: Agreement
    judged: float
    people: float
    bias: float
    ci95: Interval | None


@dataclass(frozen=True, slots=True)
class Bin:
    """The answers whose predicted probability lies in one tenth of 0..1.

    Attributes:
        low: lower end of the tenth.
        n: number of predictions.
        predicted: their mean; None without predictions.
        share: the share that people's labels confirm; None without predictions.
    """

    low: float
    n: int
    predicted: float | None
    share: float | None


@dataclass(frozen=True, slots=True)
class Figures:
    """How well a judge agrees with people.

    Attributes:
        agreement: the agreement over all answers.
        classes: the recall of each label, from the lowest value.
        systems: the figures of each system.
        calibration: one bin for each tenth of the predicted probability that a label is above a class.
        ece: expected calibration error, 0..1: mean distance of prediction and share, weighted by the size of the bins.
        brier: mean squared distance of the probabilities to people's labels, 0..1.
        certainty: for each minimum confidence, how often the judge is right.
    """

    agreement: Agreement
    classes: tuple[ClassFigures, ...]
    systems: tuple[SystemFigures, ...]
    calibration: tuple[Bin, ...]
    ece: float
    brier: float
    certainty: tuple[Certainty, ...]


def figures_of(predictions: Sequence[Prediction], labels: Sequence[str | float], values: Sequence[float]) -> Figures:
    """Return the figures of predictions.

    Args:
        predictions: at least one.
        labels: the classes, from the lowest value.
        values: their values, 0..1.
    """
    bins = _calibration(predictions, values)
    n = sum(each.n for each in bins)
    gaps = (
        each.n * abs(each.predicted - each.share)
        for each in bins
        if each.predicted is not None and each.share is not None
    )
    systems = sorted({each.example.system for each in predictions})
    return Figures(
        agreement=_agreement(predictions, values),
        classes=tuple(_class_figures(predictions, at, label, values) for at, label in enumerate(labels)),
        systems=tuple(_system_figures(system, predictions, values) for system in systems),
        calibration=bins,
        ece=math.fsum(gaps) / n,
        brier=fmean((p - is_above) ** 2 for p, is_above in _pairs(predictions, values)),
        certainty=tuple(_certainty(predictions, values, confidence) for confidence in CONFIDENCES),
    )


def _judged(prediction: Prediction, values: Sequence[float]) -> float:
    return values[likeliest_class(prediction.above)[0]]


def _agreement(predictions: Iterable[Prediction], values: Sequence[float]) -> Agreement:
    ratings = (
        Rating(each.example.unit, _judged(each, values), (each.example.value,), each.example.unit)
        for each in predictions
    )
    return agreement(ratings, values)


def _class_figures(
    predictions: Sequence[Prediction], at: int, label: str | float, values: Sequence[float]
) -> ClassFigures:
    in_class = [each for each in predictions if each.example.value == values[at]]
    if not in_class:
        return ClassFigures(label, 0, None, None)
    hits = _by_unit(in_class, lambda each: float(likeliest_class(each.above)[0] == at))
    recall = sum(map(sum, hits)) / len(in_class)
    return ClassFigures(label, len(in_class), recall, clustered_interval(hits, binary=True))


def _system_figures(system: str, predictions: Iterable[Prediction], values: Sequence[float]) -> SystemFigures:
    answers = [each for each in predictions if each.example.system == system]
    judged, people = fmean(_judged(each, values) for each in answers), fmean(each.example.value for each in answers)
    differences = _by_unit(answers, lambda each: _judged(each, values) - each.example.value)
    interval = clustered_interval(differences, binary=False, low=-1.0)
    return SystemFigures(system, _agreement(answers, values), judged, people, judged - people, interval)


def _calibration(predictions: Iterable[Prediction], values: Sequence[float]) -> tuple[Bin, ...]:
    groups: list[list[tuple[float, float]]] = [[] for _ in range(BINS)]
    for probability, is_above in _pairs(predictions, values):
        groups[min(BINS - 1, int(probability * BINS))].append((probability, is_above))
    return tuple(
        Bin(at / BINS, len(group), fmean(p for p, _ in group), fmean(is_above for _, is_above in group))
        if group
        else Bin(at / BINS, 0, None, None)
        for at, group in enumerate(groups)
    )


def _pairs(predictions: Iterable[Prediction], values: Sequence[float]) -> list[tuple[float, float]]:
    """Return, for each answer and class except the highest: P(label above the class), and whether people's label is."""
    return [
        (probability, float(each.example.value > value))
        for each in predictions
        for probability, value in zip(each.above, values, strict=False)
    ]


def _certainty(predictions: Iterable[Prediction], values: Sequence[float], confidence: float) -> Certainty:
    sure = [each for each in predictions if likeliest_class(each.above)[1] >= confidence]
    return Certainty(confidence, len(sure), sum(_judged(each, values) == each.example.value for each in sure))


def _by_unit(predictions: Iterable[Prediction], value: Callable[[Prediction], float]) -> list[list[float]]:
    units: dict[str, list[float]] = {}
    for each in predictions:
        units.setdefault(each.example.unit, []).append(value(each))
    return list(units.values())
