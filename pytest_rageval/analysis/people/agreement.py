"""Measure the agreement of a judge with people: accuracy, kappa, alpha, confusions, bias.

All figures have bootstrap intervals.

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

from pytest_rageval.analysis.people.reliability import alpha_of, coincidences, distances
from pytest_rageval.analysis.statistics import Interval
from pytest_rageval.errors import SettingError
from pytest_rageval.metrics.shared.proportion import LEVEL

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.floating[Any]]

__all__ = [
    "MANY_LEVELS", "MAX_LEVELS", "Agreement", "Estimate", "Rating", "TooManyLevelsError", "agreement", "levels_of",
    "nearest", "without_levels",
]  # fmt: skip

MAX_LEVELS = 20
"""Highest number of levels of a scale; with more, equal values are too rare to measure agreement."""

NO_RATING, ONE_VALUE, MANY_LEVELS = "no_rating", "one_value", "many_levels"
MAX_RESAMPLES, MIN_RESAMPLES = 1_000, 100
MAX_COUNTS = 4_000_000  # limit of kinds of units times resamples; above it, fewer resamples are drawn


class TooManyLevelsError(SettingError):
    """Raised if people's labels have more than `MAX_LEVELS` values."""


class Rating(NamedTuple):
    """The judge's and people's values for one answer.

    Attributes:
        case: the case that was answered.
        judged: the judge's value, one of the levels.
        people: the value of each person, each one of the levels; at least one.
        unit: the independent unit of the case; resampling draws units. None if the case is its own unit.
    """

    case: Hashable
    judged: float
    people: tuple[float, ...]
    unit: Hashable = None


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its 95 % interval, or the reason why it is undefined.

    Attributes:
        value: the number; None if it is undefined.
        ci95: percentiles of the resamples in which the number is defined; None for a single unit.
        reason: why it is undefined: "no_rating", "one_value" if all raters give one value to everything,
            "many_levels" if labels have too many values, "too_few" values for a correlation.
    """

    value: float | None
    ci95: Interval | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Agreement:
    """A judge compared with people; each person forms a pair with the judge.

    Attributes:
        n: number of pairs of a person's value and the judge's value.
        n_cases: number of cases with a pair.
        levels: the possible values, ascending, in 0..1.
        confusion: number of pairs; rows are people's levels, columns the judge's.
        shares: the confusion as shares of all pairs.
        accuracy: share of pairs with the same value.
        kappa: Cohen's kappa, in -1..1.
        kappa_quadratic: kappa weighted by the squared distances of the values.
        alpha: Krippendorff's alpha of all raters, including the judge, with squared distances of the values, in -1..1.
        higher: share of pairs in which the judge's value is higher.
        lower: share of pairs in which the judge's value is lower.
        n_units: number of independent units of the cases.
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
    """Return the levels of a scale, ascending: 0, 1, the declared levels and people's values.

    Raises:
        TooManyLevelsError: there are more than `MAX_LEVELS`.
    """
    levels = sorted({0.0, 1.0, *declared, *values})
    if len(levels) > MAX_LEVELS:
        raise TooManyLevelsError(
            f"people's labels have {len(levels)} different values; agreement needs at most {MAX_LEVELS}; "
            "compare them as yes and no with --threshold"
        )
    return tuple(levels)


def nearest(value: float, levels: Sequence[float]) -> float:
    """Return the level nearest to ``value``; a tie goes to the higher level, so 0.5 becomes 1 on a 0/1 scale."""
    return min(levels, key=lambda level: (abs(level - value), -level))


def agreement(ratings: Iterable[Rating], levels: Sequence[float], *, intervals: bool = True) -> Agreement:
    """Return the agreement of the judge with people.

    The intervals are percentiles of 1,000 resamples of the units, drawn with a fixed seed. Units with the same ratings
    are one kind; a resample draws the count of each kind, which is fast for a million units. With more than 4,000 kinds
    there are proportionally fewer resamples, at least 100.

    The quadratic kappa equals scikit-learn's if the levels are evenly spaced and all of them are passed as its
    ``labels``. Kappa and alpha are undefined if all ratings have the same value.

    Args:
        ratings: the answers that people labelled and the judge scored.
        levels: the possible values, ascending, see `levels_of`.
        intervals: whether to compute intervals; without them every ``ci95`` is None.

    Raises:
        KeyError: a value is not one of the levels.
    """
    import numpy as np

    ratings = list(ratings)
    kinds, counts = _kinds(ratings, levels)
    size, n_units = len(levels), sum(counts)
    if not n_units:
        return _empty_agreement(levels)
    pairs = np.array([[_confusions(kind, size), coincidences(kind, size)] for kind in kinds], float)
    flat = pairs.reshape(len(kinds), -1)
    weights = np.array(counts, float)
    whole = (weights @ flat).reshape(1, 2, size, size)
    tables = whole
    if intervals and n_units > 1:
        step = max(1, MAX_COUNTS // len(kinds))
        resamples = min(MAX_RESAMPLES, max(MIN_RESAMPLES, step))
        generator, table_parts = np.random.default_rng(0), [whole]
        for n_drawn in range(0, resamples, step):
            draws = generator.multinomial(n_units, weights / n_units, size=min(step, resamples - n_drawn))
            table_parts.append((draws @ flat).reshape(-1, 2, size, size))
        tables = np.concatenate(table_parts)
    n_cases = len({rating.case for rating in ratings})
    return _agreement(tables[:, 0], tables[:, 1], n_cases, n_units, levels)


def without_levels(n: int, n_cases: int, n_units: int) -> Agreement:
    """Return an agreement with counts only, for labels with more than `MAX_LEVELS` values."""
    none = Estimate(None, reason=MANY_LEVELS)
    return Agreement(n, n_cases, (), (), (), *(none,) * 6, n_units=n_units)


def _kinds(ratings: Iterable[Rating], levels: Sequence[float]) -> tuple[list[tuple[tuple[int, ...], ...]], list[int]]:
    """Return the kinds of units and the number of units of each kind.

    A kind lists, for each answer of the unit, the index of the judge's level and then those of people's levels.
    """
    index_of: Mapping[float, int] = {level: index for index, level in enumerate(levels)}
    codes_of_rating: dict[tuple[float, tuple[float, ...]], tuple[int, ...]] = {}
    units: dict[Hashable, tuple[tuple[int, ...], ...]] = {}
    for case, judged, people, unit in ratings:
        codes = codes_of_rating.get((judged, people))
        if codes is None:
            codes = codes_of_rating[judged, people] = (index_of[judged], *sorted(index_of[value] for value in people))
        name = case if unit is None else unit
        codes_of_unit = units.get(name)
        units[name] = (codes,) if codes_of_unit is None else (*codes_of_unit, codes)
    counts = Counter(kind if len(kind) == 1 else tuple(sorted(kind)) for kind in units.values())
    return list(counts), list(counts.values())


def _confusions(kind: Sequence[Sequence[int]], size: int) -> list[list[int]]:
    """Return the confusion table of one unit: people's level, then the judge's level -> number of pairs."""
    table = [[0] * size for _ in range(size)]
    for judged, *people in kind:
        for person in people:
            table[person][judged] += 1
    return table


def _agreement(
    confusions: Numbers, coincidence_tables: Numbers, n_cases: int, n_units: int, levels: Sequence[float]
) -> Agreement:
    """Return the agreement from tables of confusions and coincidences.

    The first table counts all cases; each further table counts one resample.
    """
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
        "alpha": alpha_of(coincidence_tables, squared),
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
    """Return 1 - observed / expected disagreement of each table; NaN if no disagreement is expected."""
    import numpy as np

    expected = shares.sum(axis=2)[:, :, None] * shares.sum(axis=1)[:, None, :]
    chance = (expected * weights).sum(axis=(1, 2))
    observed = (shares * weights).sum(axis=(1, 2))
    kappas: Numbers = 1 - np.divide(observed, chance, out=np.full_like(chance, np.nan), where=chance > 0)
    return kappas


def _estimate(values: Numbers) -> Estimate:
    """Return the first value with the 95 % interval of the others, which come from resamples; NaN is left out."""
    import numpy as np

    if np.isnan(values[0]):
        return Estimate(None, reason=ONE_VALUE)
    resampled = values[1:][~np.isnan(values[1:])]
    if not resampled.size:
        return Estimate(float(values[0]))
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(resampled, (tail, 1 - tail))
    return Estimate(float(values[0]), (float(low), float(high)))


def _empty_agreement(levels: Sequence[float]) -> Agreement:
    none = Estimate(None, reason=NO_RATING)
    size = len(levels)
    empty = tuple((0,) * size for _ in levels)
    return Agreement(0, 0, tuple(levels), empty, tuple((none,) * size for _ in levels), *(none,) * 6)
