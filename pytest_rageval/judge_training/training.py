"""Train a local judge: check the labels, fit the head, measure it on questions that it has not seen."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.judge_training.examples import Example, Examples, digest_of_example, digest_of_examples
from pytest_rageval.judge_training.figures import Figures, Predicted, figures_of
from pytest_rageval.judge_training.fitting import (
    FOLDS,
    Rows,
    best_head,
    cross_validated,
    predicted,
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

__all__ = ["LEAST_ALPHA", "LEAST_LABELS", "Trained", "check_examples", "train"]

LEAST_LABELS = 40
LEAST_OF_CLASS = 10
MOST_CLASSES = 5
LEAST_ALPHA = 0.4
"""Agreement among people below which their labels train no judge."""


@dataclass(frozen=True, slots=True)
class Trained:
    """A trained judge with what its card reports.

    Attributes:
        judge: the judge.
        vectors: the content of answers.npy; None without cosines.
        examples: the labels.
        figures: on questions that did not train it.
        tested: number of labels behind the figures.
        others: figures on the answers of each system by a judge trained on the other systems; empty below three
            systems, and without a system if the others answered fewer questions than there are folds.
        seconds: to judge 1,000 answers like these, on this machine.
    """

    judge: TrainedJudge
    vectors: bytes | None
    examples: Examples
    figures: Figures
    tested: int
    others: tuple[Figures, ...]
    seconds: float


def check_examples(examples: Examples, name: str, *, force: bool) -> None:
    """Raise `SettingError` if people do not agree among themselves; ``force`` lets that pass."""
    if examples.alpha is not None and examples.alpha < LEAST_ALPHA and not force:
        raise SettingError(
            f"people's labels of {name} agree too little to train on: alpha {examples.alpha:.2f} on "
            f"{examples.n_several} answers with several labels, wanted {LEAST_ALPHA}; let people settle them, or give "
            "--force"
        )


def train(
    examples: Examples, judge: Judge, embedder: Embedder | None, *, seed: int, shares: tuple[int, int, int] | None
) -> Trained:
    """Train a judge and measure it.

    Args:
        examples: the labels.
        judge: the metric's judge.
        embedder: the embedding model of the cosines; None for features by rule alone.
        seed: decides folds and split.
        shares: of the questions in train, dev and test; None trains on all labels and cross-validates the figures.

    Raises:
        SettingError: the labels are too few or of one kind; the message has the missing number.
        MissingDependencyError: scikit-learn is not installed.
    """
    require_scikit_learn()
    parts = trains, _, _ = _split(examples.rows, shares, seed)
    _check_labels(trains, judge.name)
    values = sorted({each.value for each in trains})
    labels = [next(each.label for each in trains if each.value == value) for value in values]
    known = _of_classes(parts, values)
    _features(known[0][:1], embedder)  # loads the model before the clock starts
    start = time.process_time()
    computed = [_features(part, embedder) for part in known]
    seconds = (time.process_time() - start) / max(1, sum(map(len, known))) * 1000
    rows, dev_rows, test_rows = (
        _rows(part, numbers, values) for part, (numbers, _) in zip(known, computed, strict=True)
    )
    head, penalty = best_head(rows, seed, dev_rows if len(dev_rows) else None)
    others: tuple[Figures, ...] = ()
    if shares is None:
        tested, above = known[0], cross_validated(rows, seed)
        others = tuple(_without(system, known[0], rows, labels, values, seed) for system in _systems(known[0]))
    else:
        tested, above = known[2], predicted(head, test_rows)
    figures = figures_of([Predicted(*pair) for pair in zip(tested, above, strict=True)], labels, values)
    vectors, furthest = _stored(computed[0][1], rows.units)
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
        training=_training(known[0], seed, shares, penalty),
        versions={name: installed_version(name) for name in ("pytest-rageval", "scikit-learn")},
        calibration=tuple((each.n, each.predicted or 0.0, each.share or 0.0) for each in figures.calibration),
    )
    return Trained(trained, vectors, examples, figures, len(tested), others, seconds)


def _training(trains: Sequence[Example], seed: int, shares: tuple[int, int, int] | None, penalty: float) -> Training:
    """Return what a judge is trained on, given its labels."""
    return Training(
        digest=digest_of_examples(trains),
        labels=len(trains),
        questions=len({each.unit for each in trains}),
        seed=seed,
        split="" if shares is None else ":".join(map(str, shares)),
        penalty=penalty,
        examples=tuple(sorted({digest_of_example(each) for each in trains})),
    )


def _split(rows: Sequence[Example], shares: tuple[int, int, int] | None, seed: int) -> list[list[Example]]:
    """Return the examples of train, dev and test."""
    if shares is None:
        return [list(rows), [], []]
    units = split(sorted({each.unit for each in rows}), shares, seed)
    parts = [[each for each in rows if each.unit in set(own)] for own in units.values()]
    if not parts[2]:
        raise SettingError(f"--split {':'.join(map(str, shares))} leaves no question to test on; give test a share")
    return parts


def _of_classes(parts: Sequence[Sequence[Example]], values: Sequence[float]) -> list[list[Example]]:
    """Return the examples of train, dev and test whose class train has."""
    known = [[each for each in part if each.value in values] for part in parts]
    if parts[2] and not known[2]:
        raise SettingError("no label of the test part has a class that train has; change --seed or --split")
    return known


def _check_labels(rows: Sequence[Example], name: str) -> None:
    """Raise `SettingError` with the missing number if the labels cannot train a judge."""
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
    if len(counts) > MOST_CLASSES:
        raise SettingError(f"people use {len(counts)} labels of {name}, wanted at most {MOST_CLASSES}; join some")
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
    """Return the features of examples and the vectors of their answers, in batches."""
    features: list[list[float]] = []
    vectors: list[NDArray[np.float32]] = []
    for start in range(0, len(rows), BATCH):
        values, answers = values_of([each.judged for each in rows[start : start + BATCH]], embedder)
        features += values
        vectors += answers or []
    _check_finite(rows, features, list(feature_versions(cosines=embedder is not None)))
    return features, vectors


def _check_finite(rows: Sequence[Example], features: Sequence[Sequence[float]], names: Sequence[str]) -> None:
    """Raise `SettingError` that names the question if a feature of an answer is not finite."""
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
    """Return the systems to leave out one by one: if there are three, those whose rest has a question for each fold."""
    systems = sorted({each.system for each in rows})
    if len(systems) < 3:
        return []
    return [system for system in systems if len({each.unit for each in rows if each.system != system}) >= FOLDS]


def _without(
    system: str, part: Sequence[Example], rows: Rows, labels: Sequence[str | float], values: Sequence[float], seed: int
) -> Figures:
    """Return the figures on a system's answers by a judge trained on the answers of the others."""
    own = [at for at, each in enumerate(part) if each.system == system]
    head, _ = best_head(rows.part([at for at, each in enumerate(part) if each.system != system]), seed)
    above = predicted(head, rows.part(own))
    return figures_of([Predicted(part[at], each) for at, each in zip(own, above, strict=True)], labels, values)


def _stored(vectors: Sequence[NDArray[np.float32]], units: Sequence[str]) -> tuple[bytes | None, float]:
    """Return the content of answers.npy, and the largest distance of an answer to those to other questions."""
    if not vectors:
        return None, 0.0
    import numpy as np

    stored = rows_to_bytes(np.stack(vectors))
    rows = np.stack(vectors)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    rows = rows / lengths
    own = np.array(units)
    cosines = np.where(own[:, None] == own[None, :], -1.0, rows @ rows.T)
    return stored, round(float(1 - cosines.max(axis=1).min()), 4)
