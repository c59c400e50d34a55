"""Train a local judge: check the labels, fit the head, measure it on unseen questions."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.judge_training.examples import Example, Examples, digest_of_example, digest_of_examples
from pytest_rageval.judge_training.figures import Figures, Prediction, figures_of
from pytest_rageval.judge_training.fitting import (
    FOLDS,
    Rows,
    best_head,
    cross_validate,
    predict,
    require_scikit_learn,
)
from pytest_rageval.local_judges.judge_file import feature_versions, metric_digest, rows_to_bytes
from pytest_rageval.local_judges.judge_model import TrainedJudge, Training, UsedEmbedder
from pytest_rageval.local_judges.local_judge import BATCH, Embedder, values_of
from pytest_rageval.model.judging import Judge
from pytest_rageval.report.export.judge_training_data import split
from pytest_rageval.versions import installed_version

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["LEAST_ALPHA", "LEAST_LABELS", "TrainingResult", "check_examples", "train"]

LEAST_LABELS = 40
LEAST_OF_CLASS = 10
MAX_CLASSES = 5
LEAST_ALPHA = 0.4
"""Minimum agreement among people (Krippendorff's alpha) to train on their labels."""


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """A trained judge with the figures of its card.

    Attributes:
        judge: the judge.
        vectors: the content of answers.npy; None without cosines.
        examples: the labels.
        figures: the figures on questions that did not train it.
        tested: number of labels behind the figures.
        others: one for each system: the figures on its answers from a judge trained on the other systems. Empty with
            fewer than three systems; a system is left out if the others answered fewer questions than there are
            folds.
        seconds: CPU seconds to judge 1,000 answers like these on this machine.
    """

    judge: TrainedJudge
    vectors: bytes | None
    examples: Examples
    figures: Figures
    tested: int
    others: tuple[Figures, ...]
    seconds: float


def check_examples(examples: Examples, name: str, *, force: bool) -> None:
    """Raise `SettingError` if people disagree too much; ``force`` skips the check."""
    if examples.alpha is not None and examples.alpha < LEAST_ALPHA and not force:
        raise SettingError(
            f"people's labels of {name} agree too little to train on: alpha {examples.alpha:.2f} on "
            f"{examples.n_several} answers with several labels, wanted {LEAST_ALPHA}; let people settle them, or give "
            "--force"
        )


def train(
    examples: Examples, judge: Judge, embedder: Embedder | None, *, seed: int, shares: tuple[int, int, int] | None
) -> TrainingResult:
    """Train a judge and measure it.

    Args:
        examples: the labels.
        judge: the metric's judge.
        embedder: the embedding model of the cosines; None for features by rule only.
        seed: decides folds and split.
        shares: the shares of questions in train, dev and test; None trains on all labels and cross-validates the
            figures.

    Raises:
        SettingError: there are too few labels, or all are the same; the message says how many are missing.
        MissingDependencyError: scikit-learn is not installed.
    """
    require_scikit_learn()
    parts = training_rows, _, _ = _split(examples.rows, shares, seed)
    _check_labels(training_rows, judge.name)
    values = sorted({each.value for each in training_rows})
    labels = [next(each.label for each in training_rows if each.value == value) for value in values]
    usable = _with_trained_class(parts, values)
    _features(usable[0][:1], embedder)  # loads the model before the clock starts
    start = time.process_time()
    computed = [_features(part, embedder) for part in usable]
    seconds = (time.process_time() - start) / max(1, sum(map(len, usable))) * 1000
    rows, dev_rows, test_rows = (
        _rows(part, numbers, values) for part, (numbers, _) in zip(usable, computed, strict=True)
    )
    head, penalty = best_head(rows, seed, dev_rows if len(dev_rows) else None)
    others: tuple[Figures, ...] = ()
    if shares is None:
        tested_rows, predictions = usable[0], cross_validate(rows, seed)
        others = tuple(
            _held_out_figures(system, usable[0], rows, labels, values, seed) for system in _systems(usable[0])
        )
    else:
        tested_rows, predictions = usable[2], predict(head, test_rows)
    figures = figures_of([Prediction(*pair) for pair in zip(tested_rows, predictions, strict=True)], labels, values)
    vectors, furthest = _answer_vectors(computed[0][1], rows.units)
    trained = TrainedJudge(
        metric=judge.name,
        metric_digest=metric_digest(judge),
        labels=tuple(labels),
        values=tuple(values),
        features=feature_versions(cosines=embedder is not None),
        head=head,
        embedder=None if embedder is None else UsedEmbedder(embedder.name, embedder.files_digest),
        furthest=furthest,
        certainty=figures.certainty,
        training=_training(usable[0], seed, shares, penalty),
        versions={name: installed_version(name) for name in ("pytest-rageval", "scikit-learn")},
        calibration=tuple((each.n, each.predicted or 0.0, each.share or 0.0) for each in figures.calibration),
    )
    return TrainingResult(trained, vectors, examples, figures, len(tested_rows), others, seconds)


def _training(
    training_rows: Sequence[Example], seed: int, shares: tuple[int, int, int] | None, penalty: float
) -> Training:
    """Return the description of a training on these labels."""
    return Training(
        digest=digest_of_examples(training_rows),
        labels=len(training_rows),
        questions=len({each.unit for each in training_rows}),
        seed=seed,
        split="" if shares is None else ":".join(map(str, shares)),
        penalty=penalty,
        examples=tuple(sorted({digest_of_example(each) for each in training_rows})),
    )


def _split(rows: Sequence[Example], shares: tuple[int, int, int] | None, seed: int) -> list[list[Example]]:
    """Return the examples of train, dev and test."""
    if shares is None:
        return [list(rows), [], []]
    units = split(sorted({each.unit for each in rows}), shares, seed)
    parts = [[each for each in rows if each.unit in set(questions)] for questions in units.values()]
    if not parts[2]:
        raise SettingError(f"--split {':'.join(map(str, shares))} leaves no question to test on; give test a share")
    return parts


def _with_trained_class(parts: Sequence[Sequence[Example]], values: Sequence[float]) -> list[list[Example]]:
    """Return the examples of train, dev and test without the classes that train lacks."""
    usable = [[each for each in part if each.value in values] for part in parts]
    if parts[2] and not usable[2]:
        raise SettingError("no label of the test part has a class that train has; change --seed or --split")
    return usable


def _check_labels(rows: Sequence[Example], name: str) -> None:
    """Raise `SettingError` if the labels cannot train a judge; the message says how many are missing."""
    counts = Counter(each.label for each in rows)
    languages = Counter(each.judged.language for each in rows)
    units = {each.unit for each in rows}
    if len(rows) < LEAST_LABELS:
        missing = LEAST_LABELS - len(rows)
        raise SettingError(f"{len(rows)} labels of {name} can train it, wanted {LEAST_LABELS}: label {missing} more")
    if len(counts) == 1:
        raise SettingError(
            f"all {len(rows)} labels of {name} are {next(iter(counts))!r}, wanted two labels or more; label answers of "
            f"the other kind, {LEAST_OF_CLASS} or more"
        )
    if len(counts) > MAX_CLASSES:
        raise SettingError(f"people use {len(counts)} labels of {name}, wanted at most {MAX_CLASSES}; join some")
    rarest, n = min(counts.items(), key=lambda entry: (entry[1], str(entry[0])))
    if n < LEAST_OF_CLASS:
        missing = LEAST_OF_CLASS - n
        raise SettingError(
            f"{n} labels of {name} are {rarest!r}, wanted {LEAST_OF_CLASS}: label {missing} more of them"
        )
    for language, count in languages.items():
        if count < LEAST_LABELS:
            missing = LEAST_LABELS - count
            problem = f"{count} labels of {name} are of questions in {language}, wanted {LEAST_LABELS} in each language"
            raise SettingError(f"{problem}: label {missing} more, or leave these out")
    if len(units) < FOLDS:
        raise SettingError(f"the labels of {name} are of {len(units)} questions, wanted {FOLDS}; label other questions")


def _features(
    rows: Sequence[Example], embedder: Embedder | None
) -> tuple[list[list[float]], list[NDArray[np.float32]]]:
    """Compute the features of examples and the vectors of their answers in batches."""
    features: list[list[float]] = []
    vectors: list[NDArray[np.float32]] = []
    for start in range(0, len(rows), BATCH):
        values, answers = values_of([each.judged for each in rows[start : start + BATCH]], embedder)
        features += values
        vectors += answers or []
    _check_finite(rows, features, list(feature_versions(cosines=embedder is not None)))
    return features, vectors


def _check_finite(rows: Sequence[Example], features: Sequence[Sequence[float]], names: Sequence[str]) -> None:
    """Raise `SettingError` for a feature that is not finite; the message names the question."""
    for each, numbers in zip(rows, features, strict=True):
        for name, number in zip(names, numbers, strict=True):
            if not math.isfinite(number):
                where = f"the feature {name} of an answer to {short_repr(each.judged.question)}"
                raise SettingError(f"{where} is not a finite number; remove the row, or use another embedding model")


def _rows(part: Sequence[Example], features: Sequence[Sequence[float]], values: Sequence[float]) -> Rows:
    return Rows(
        tuple(map(tuple, features)),
        tuple(each.judged.language for each in part),
        tuple(each.unit for each in part),
        tuple(values.index(each.value) for each in part),
        len(values),
    )


def _systems(rows: Sequence[Example]) -> list[str]:
    """Return the systems to hold out one by one; none if there are fewer than three.

    The other systems must have answered at least one question for each fold.
    """
    systems = sorted({each.system for each in rows})
    if len(systems) < 3:
        return []
    return [system for system in systems if len({each.unit for each in rows if each.system != system}) >= FOLDS]


def _held_out_figures(
    system: str, part: Sequence[Example], rows: Rows, labels: Sequence[str | float], values: Sequence[float], seed: int
) -> Figures:
    """Train a judge on the other systems, and return its figures on the answers of this system."""
    held_out = [at for at, each in enumerate(part) if each.system == system]
    head, _ = best_head(rows.part([at for at, each in enumerate(part) if each.system != system]), seed)
    predictions = predict(head, rows.part(held_out))
    tested_rows = [part[at] for at in held_out]
    return figures_of([Prediction(*pair) for pair in zip(tested_rows, predictions, strict=True)], labels, values)


def _answer_vectors(vectors: Sequence[NDArray[np.float32]], units: Sequence[str]) -> tuple[bytes | None, float]:
    """Return the content of answers.npy, and the largest distance of an answer to its nearest neighbour.

    The distance is 1 - cosine; neighbours are answers to other questions, see `TrainedJudge.furthest`.
    """
    if not vectors:
        return None, 0.0
    import numpy as np

    stored = rows_to_bytes(np.stack(vectors))
    rows = np.stack(vectors)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    rows = rows / lengths
    questions = np.array(units)
    cosines = np.where(questions[:, None] == questions[None, :], -1.0, rows @ rows.T)
    return stored, round(float(1 - cosines.max(axis=1).min()), 4)
