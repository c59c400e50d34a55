"""The content of judge.json: a trained judge and its training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_rageval.local_judges.head import Head

__all__ = ["CONFIDENCES", "Certainty", "TrainedJudge", "Training", "UsedEmbedder"]

CONFIDENCES = tuple(step / 100 for step in range(50, 100, 5))
"""The minimum confidences of `Certainty`: 0.5, 0.55, ... 0.95."""


@dataclass(frozen=True, slots=True)
class UsedEmbedder:
    """The embedding model behind the cosines of a judge.

    Attributes:
        name: its name, like ``rag_embedder_model``.
        digest: sha256 of its files.
    """

    name: str
    digest: str


@dataclass(frozen=True, slots=True)
class Certainty:
    """How often a judge with at least this confidence was right in cross-validation.

    Attributes:
        confidence: the minimum confidence, 0.5..0.95.
        n: number of answers with at least this confidence.
        right: number of these answers with the label of people.
    """

    confidence: float
    n: int
    right: int


@dataclass(frozen=True, slots=True)
class Training:
    """The data and settings of a training.

    Attributes:
        digest: sha256 of the labels with their texts.
        labels: number of labelled answers that trained it.
        questions: number of distinct questions.
        seed: decides the folds and the split.
        split: the shares of questions in train, dev and test, such as "5:1:4"; "" if all labels trained it.
        penalty: the chosen C of the logistic regressions.
        examples: sorted short digests of the labelled answers; () if an earlier version of this package trained it.
    """

    digest: str
    labels: int
    questions: int
    seed: int
    split: str
    penalty: float
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TrainedJudge:
    """A trained judge, which `judge_file` writes and reads.

    Attributes:
        metric: the name of the metric's judge.
        metric_digest: changes if the labels of the metric's judge or their values change.
        labels: the classes from the lowest value to the highest, 2 to 5.
        values: the value of each class, 0..1, ascending.
        features: feature -> its version, in the order of the weights.
        head: computes probabilities from features.
        embedder: the embedding model; None if the judge has no cosines.
        furthest: the largest distance of a training answer to its nearest answer to another question, 0..2; 0 without
            an embedding model.
        certainty: one for each of `CONFIDENCES`, from cross-validation.
        training: the data and settings of the training.
        versions: library -> version, of the training.
        calibration: for each tenth of the predicted probability: number of predictions, mean prediction, and the share
            that people confirm.
    """

    metric: str
    metric_digest: str
    labels: tuple[str | float, ...]
    values: tuple[float, ...]
    features: Mapping[str, int]
    head: Head
    embedder: UsedEmbedder | None
    furthest: float
    certainty: tuple[Certainty, ...]
    training: Training
    versions: Mapping[str, str] = field(default_factory=dict)
    calibration: tuple[tuple[int, float, float], ...] = ()

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages of its training answers."""
        return tuple(self.head.scalings)
