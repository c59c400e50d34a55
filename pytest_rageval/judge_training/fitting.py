"""Fit the head of a judge with scikit-learn, and choose its penalty."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from statistics import fmean, pstdev

from pytest_rageval.errors import MissingDependencyError
from pytest_rageval.local_judges.head import Head, Scaling, Threshold, class_shares
from pytest_rageval.testbeds.ids import digest

__all__ = [
    "FOLDS",
    "PENALTIES",
    "Rows",
    "best_head",
    "cross_validate",
    "folds_of",
    "predict",
    "require_scikit_learn",
    "weights_of",
]

PENALTIES = (0.01, 0.03, 0.1, 0.3, 1.0)
"""The values of C that cross-validation chooses from; a smaller C penalises weights more."""

FOLDS = 5
_DIGITS = 12  # significant digits of the stored numbers
_LEAST = 1e-12  # minimum probability in the log loss, and minimum standard deviation


@dataclass(frozen=True, slots=True)
class Rows:
    """The features and classes of examples, one entry of each tuple per example.

    Attributes:
        values: the features.
        languages: the languages.
        units: the folded questions.
        classes: the classes, 0 for the lowest value.
        n_classes: number of classes.
    """

    values: tuple[tuple[float, ...], ...]
    languages: tuple[str, ...]
    units: tuple[str, ...]
    classes: tuple[int, ...]
    n_classes: int

    def __len__(self) -> int:
        return len(self.classes)

    def part(self, at: Sequence[int]) -> Rows:
        """Return the rows with these indices."""
        fields = (self.values, self.languages, self.units, self.classes)
        values, languages, units, classes = (tuple(column[place] for place in at) for column in fields)
        return Rows(values, languages, units, classes, self.n_classes)  # type: ignore[arg-type]


def require_scikit_learn() -> None:
    """Raise `MissingDependencyError` if scikit-learn is not installed."""
    if find_spec("sklearn") is None:
        raise MissingDependencyError("rageval judge train", "judge")


def folds_of(units: Sequence[str], seed: int) -> list[int]:
    """Return the fold of each row, 0..4; it depends on the seed and the question, so a question is in one fold."""
    ranked = sorted(set(units), key=lambda unit: digest(seed, unit))
    fold = {unit: at % FOLDS for at, unit in enumerate(ranked)}
    return [fold[unit] for unit in units]


def best_head(rows: Rows, seed: int, test: Rows | None = None) -> tuple[Head, float]:
    """Return the head with the best C, fitted on all rows, and that C.

    The best C has the smallest log loss in cross-validation over questions, or on ``test``; ties go to the smaller C.
    """

    @cache
    def loss(penalty: float) -> float:
        if test is not None:
            return _log_loss(predict(_head(rows, penalty), test), test)
        return _log_loss(_over_folds(rows, seed, lambda part: _head(part, penalty)), rows)

    best = min(PENALTIES, key=lambda penalty: (round(loss(penalty), 12), penalty))
    return _head(rows, best), best


def cross_validate(rows: Rows, seed: int) -> list[tuple[float, ...]]:
    """Return the prediction of each row by a judge trained on other questions; C is chosen inside each fold."""
    return _over_folds(rows, seed, lambda part: best_head(part, seed)[0])


def _over_folds(rows: Rows, seed: int, fit: Callable[[Rows], Head]) -> list[tuple[float, ...]]:
    """Return the prediction of each row from a head that was fitted on the other folds."""
    predictions: list[tuple[float, ...]] = [()] * len(rows)
    folds = folds_of(rows.units, seed)
    for fold in sorted(set(folds)):
        inside = [at for at, row_fold in enumerate(folds) if row_fold == fold]
        head = fit(rows.part([at for at, row_fold in enumerate(folds) if row_fold != fold]))
        for at, above in zip(inside, predict(head, rows.part(inside)), strict=True):
            predictions[at] = above
    return predictions


def predict(head: Head, rows: Rows) -> list[tuple[float, ...]]:
    """Return the predictions of rows; a language without training answers gets the scaling of the first language."""
    default = next(iter(head.scalings))
    languages = (language if language in head.scalings else default for language in rows.languages)
    return [head.above(values, language) for values, language in zip(rows.values, languages, strict=True)]


def _log_loss(predictions: Sequence[Sequence[float]], rows: Rows) -> float:
    shares = (class_shares(above)[label] for above, label in zip(predictions, rows.classes, strict=True))
    return fmean(-math.log(max(share, _LEAST)) for share in shares)


def _head(rows: Rows, penalty: float) -> Head:
    scalings = {language: _scaling(rows, language) for language in sorted(set(rows.languages))}
    scaled = [_scale(values, scalings[language]) for values, language in zip(rows.values, rows.languages, strict=True)]
    thresholds = (
        _threshold(scaled, [label > below for label in rows.classes], penalty) for below in range(rows.n_classes - 1)
    )
    return Head(scalings, tuple(thresholds))


def _scaling(rows: Rows, language: str) -> Scaling:
    in_language = [values for values, each in zip(rows.values, rows.languages, strict=True) if each == language]
    columns = list(zip(*in_language, strict=True))
    means = tuple(_round(fmean(column)) for column in columns)
    sds = tuple(_round(pstdev(column)) or 1.0 for column in columns)
    return Scaling(means, tuple(sd if sd > _LEAST else 1.0 for sd in sds))


def _scale(values: Sequence[float], scaling: Scaling) -> list[float]:
    return [(x - mean) / sd for x, mean, sd in zip(values, scaling.means, scaling.sds, strict=True)]


def _threshold(scaled: Sequence[Sequence[float]], above: Sequence[bool], penalty: float) -> Threshold:
    """Fit one logistic regression; if all rows are on one side, all weights are 0 and the intercept decides."""
    n_above, n = sum(above), len(above)
    if n_above in (0, n):
        return Threshold(_round(math.log((n_above + 1) / (n - n_above + 1))), (0.0,) * len(scaled[0]))
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=penalty, class_weight="balanced", solver="newton-cholesky", tol=1e-8, max_iter=200)
    model.fit(scaled, list(above))
    return Threshold(_round(model.intercept_[0]), tuple(map(_round, model.coef_[0])))


def _round(number: float) -> float:
    return float(f"{number:.{_DIGITS}g}")


def weights_of(head: Head, features: Mapping[str, int]) -> dict[str, float]:
    """Return feature -> its mean weight over the thresholds, in standard deviations of the feature."""
    columns = zip(*(threshold.weights for threshold in head.thresholds), strict=True)
    return {name: fmean(column) for name, column in zip(features, columns, strict=True)}
