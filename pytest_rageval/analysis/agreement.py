"""How far a judge agrees with people: accuracy, kappa, alpha, confusions and bias, with bootstrap intervals.

Sources: J. Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological Measurement 20 (1960),
and "Weighted kappa", Psychological Bulletin 70 (1968); K. Krippendorff, "Computing Krippendorff's alpha-reliability"
(2011); B. Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 7 (1979), the percentile
interval.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_rageval.analysis.reliability import alpha_of, coincidences, distances
from pytest_rageval.analysis.statistics import LEVEL, Interval
from pytest_rageval.errors import SettingError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.floating[Any]]

__all__ = ["MOST_LEVELS", "Agreement", "Estimate", "Rating", "agreement", "levels_of", "nearest"]

MOST_LEVELS = 20
"""Levels of a scale, beyond which agreement case by case means nothing."""

NO_RATING, ONE_VALUE = "no_rating", "one_value"
MOST, LEAST = 1_000, 100  # resamples
COUNTS = 4_000_000  # kinds of cases times resamples, beyond which there are fewer resamples


class Rating(NamedTuple):
    """What the judge and people say of one answer.

    Attributes:
        case: what the answer is an answer to.
        judged: the judge's value, one of the levels.
        people: the value that each person gives, likewise; at least one.
        unit: the independent unit of the case, which is resampled; None if that is the case alone.
    """

    case: Hashable
    judged: float
    people: tuple[float, ...]
    unit: Hashable = None


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its 95 % interval, or why there is none.

    Attributes:
        value: the number; None where it is undefined.
        ci95: percentiles of the resamples in which it is defined; None for a single unit.
        reason: why it is undefined: "no_rating", or "one_value" where all say the same of everything.
    """

    value: float | None
    ci95: Interval | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Agreement:
    """A judge against people. Of several people each is a pair with the judge.

    Attributes:
        n: pairs of a person's value and the judge's.
        n_cases: cases that they are of.
        levels: the values there are, ascending, in 0..1.
        confusion: rows are people's levels, columns the judge's: how many pairs.
        shares: the same as shares of all pairs.
        accuracy: share of pairs with the same value.
        kappa: Cohen's, in -1..1.
        kappa_quadratic: the same, weighted by the squared distances of the values.
        alpha: Krippendorff's of all raters, the judge one of them, by the squared distances of the values, in -1..1.
        higher: share of pairs in which the judge's value is the higher one.
        lower: share of pairs in which it is the lower one.
        n_units: independent units that the cases form.
    """

    n: int
    n_cases: int
    levels: tuple[float, ...]
    confusion: tuple[tuple[int, ...], ...]
    shares: tuple[tuple[Estimate, ...], ...]
    accuracy: Estimate
    kappa: Estimate
    kappa_quadratic: Estimate
    alpha: Estimate
    higher: Estimate
    lower: Estimate
    n_units: int = 0


def levels_of(values: Iterable[float], declared: Iterable[float] = ()) -> tuple[float, ...]:
    """Return the levels of a scale, ascending: its ends 0 and 1, what was declared, and the values that people gave.

    Raises:
        SettingError: there are more than `MOST_LEVELS`.
    """
    levels = sorted({0.0, 1.0, *declared, *values})
    if len(levels) > MOST_LEVELS:
        raise SettingError(
            f"people's labels have {len(levels)} different values, and agreement is told of at most {MOST_LEVELS}; "
            "compare them as yes and no with --threshold"
        )
    return tuple(levels)


def nearest(value: float, levels: Sequence[float]) -> float:
    """Return the level that is nearest to ``value``, of two the higher: of 0 and 1, whether it is at least 0.5."""
    return min(levels, key=lambda level: (abs(level - value), -level))


def agreement(ratings: Iterable[Rating], levels: Sequence[float], *, intervals: bool = True) -> Agreement:
    """Return how far the judge agrees with people.

    The intervals are percentiles of 1,000 resamples of the units, always the same ones: units that are rated alike are
    drawn together, as counts, so that of a million units only the counting takes time. Of more than 4,000 kinds of
    units there are in proportion fewer resamples, but 100. The quadratic kappa equals scikit-learn's where the levels
    are evenly spaced and all of them are its ``labels``. Kappa and alpha are undefined where all are given one
    value.

    Args:
        ratings: the answers that people labelled and the judge scored.
        levels: the values there are, ascending, see `levels_of`.
        intervals: whether intervals are wanted; without them every ``ci95`` is None.

    Raises:
        KeyError: a value is none of the levels.
    """
    import numpy as np

    ratings = list(ratings)
    kinds, counts = _kinds(ratings, levels)
    size, n_units = len(levels), sum(counts)
    if not n_units:
        return _nothing(levels)
    pairs = np.array([[_confusions(kind, size), coincidences(kind, size)] for kind in kinds], float)
    flat = pairs.reshape(len(kinds), -1)
    weights = np.array(counts, float)
    whole = (weights @ flat).reshape(1, 2, size, size)
    tables = whole
    if intervals and n_units > 1:
        step = max(1, COUNTS // len(kinds))
        resamples = min(MOST, max(LEAST, step))
        generator, drawn = np.random.default_rng(0), [whole]
        for done in range(0, resamples, step):
            draws = generator.multinomial(n_units, weights / n_units, size=min(step, resamples - done))
            drawn.append((draws @ flat).reshape(-1, 2, size, size))
        tables = np.concatenate(drawn)
    n_cases = len({rating.case for rating in ratings})
    return _told(tables[:, 0], tables[:, 1], n_cases, n_units, levels)


def _kinds(ratings: Iterable[Rating], levels: Sequence[float]) -> tuple[list[tuple[tuple[int, ...], ...]], list[int]]:
    """Return how units are rated, each answer as the judge's level and then people's, and how many units are so."""
    at: Mapping[float, int] = {level: index for index, level in enumerate(levels)}
    alike: dict[tuple[float, tuple[float, ...]], tuple[int, ...]] = {}
    units: dict[Hashable, tuple[tuple[int, ...], ...]] = {}
    for case, judged, people, unit in ratings:
        codes = alike.get((judged, people))
        if codes is None:
            codes = alike[judged, people] = (at[judged], *sorted(at[value] for value in people))
        name = case if unit is None else unit
        others = units.get(name)
        units[name] = (codes,) if others is None else (*others, codes)
    found = Counter(kind if len(kind) == 1 else tuple(sorted(kind)) for kind in units.values())
    return list(found), list(found.values())


def _confusions(kind: Sequence[Sequence[int]], size: int) -> list[list[int]]:
    table = [[0] * size for _ in range(size)]
    for judged, *people in kind:
        for person in people:
            table[person][judged] += 1
    return table


def _told(confusions: Numbers, together: Numbers, n_cases: int, n_units: int, levels: Sequence[float]) -> Agreement:
    """Return what follows from tables of which the first is of all cases and the others are of resamples."""
    import numpy as np

    n, size = confusions.sum(axis=(1, 2)), len(levels)
    shares = confusions / n[:, None, None]
    squared = distances(levels)
    of_pairs = {
        "accuracy": np.trace(shares, axis1=1, axis2=2),
        "higher": np.triu(shares, 1).sum(axis=(1, 2)),
        "lower": np.tril(shares, -1).sum(axis=(1, 2)),
        "kappa": _kappa(shares, 1 - np.eye(size)),
        "kappa_quadratic": _kappa(shares, squared),
        "alpha": alpha_of(together, squared),
    }
    return Agreement(
        n=int(n[0]),
        n_cases=n_cases,
        n_units=n_units,
        levels=tuple(levels),
        confusion=tuple(tuple(int(count) for count in row) for row in confusions[0]),
        shares=tuple(tuple(_estimate(shares[:, row, column]) for column in range(size)) for row in range(size)),
        **{name: _estimate(values) for name, values in of_pairs.items()},
    )


def _kappa(shares: Numbers, weights: Numbers) -> Numbers:
    """Return 1 - observed / expected disagreement of each table, NaN where nothing could be disagreed about."""
    import numpy as np

    expected = shares.sum(axis=2)[:, :, None] * shares.sum(axis=1)[:, None, :]
    there = (expected * weights).sum(axis=(1, 2))
    observed = (shares * weights).sum(axis=(1, 2))
    kappas: Numbers = 1 - np.divide(observed, there, out=np.full_like(there, np.nan), where=there > 0)
    return kappas


def _estimate(values: Numbers) -> Estimate:
    """Return the first value, which is of all cases, and the percentiles of the others that are defined."""
    import numpy as np

    if np.isnan(values[0]):
        return Estimate(None, reason=ONE_VALUE)
    drawn = values[1:][~np.isnan(values[1:])]
    if not drawn.size:
        return Estimate(float(values[0]))
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(drawn, (tail, 1 - tail))
    return Estimate(float(values[0]), (float(low), float(high)))


def _nothing(levels: Sequence[float]) -> Agreement:
    none = Estimate(None, reason=NO_RATING)
    size = len(levels)
    empty = tuple((0,) * size for _ in levels)
    return Agreement(0, 0, tuple(levels), empty, tuple((none,) * size for _ in levels), *(none,) * 6)
