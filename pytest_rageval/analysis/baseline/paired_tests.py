"""Compare two runs over the same cases by exact and permutation tests.

Sources: Q. McNemar, "Note on the sampling error of the difference between correlated proportions or percentages",
Psychometrika 12 (1947), exact; R. A. Fisher, "The design of experiments" (1935), the permutation of signs; B. Phipson
and G. K. Smyth, "Permutation p-values should never be zero", SAGMB 9 (2010); D. G. Bonett and R. M. Price, "Adjusted
Wald confidence interval for a difference of binomial proportions based on paired data", JEBS 37 (2012).
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean

from pytest_rageval.analysis.baseline.power import at_least, chance_share, least_drop
from pytest_rageval.analysis.statistics import Interval, bonett_price_interval, bootstrap_interval, clustered_interval

__all__ = ["ROUNDING", "PairedTest", "paired_test"]

ROUNDING = 1e-9
"""Two values that differ by at most this count as equal."""

MAX_ENUMERATED = 13  # highest number of changed units for which all combinations of signs are tried
FIRST_DRAWS = 2_000  # a test far from alpha stops after this many draws
DRAWS_BELOW_ALPHA = 20  # expected number of draws with a p below alpha / cells
MIN_DRAWS = 9_999
MAX_BYTES, BATCH_BYTES = 4_000_000, 250_000  # bytes of signs, eight in a byte, in all draws and in one batch


@dataclass(frozen=True, slots=True)
class PairedTest:
    """The result of a paired test: a baseline and a new run over the same cases.

    Attributes:
        n_pairs: cases with a value in both.
        baseline: mean of the baseline's values; None without pairs.
        value: mean of the new values.
        delta: value - baseline.
        ci95: the 95 % interval of delta; None if n is too small.
        p_value: two-sided: the chance of a difference at least this large if nothing changed.
        p_worse: one-sided: the chance of a drop at least this large if nothing changed.
        n_worse: cases that became worse, beyond rounding.
        n_better: cases that became better.
        least_drop: the smallest detectable drop, see `power.least_drop`; None if no drop is detectable.
        changing: estimated share of the units that change by chance, 0..1, see `power.chance_share`.
        step: drop of a case that loses its whole value, in 0..1: 1 for 0/1 values; for graded values a weighted mean
            of what the cases can lose, in which larger losses weigh more.
        n_units: number of independent units of the cases; ``least_drop``, ``changing`` and ``step`` refer to units.
        changes: unit -> the sum of its cases' changes, positive if it became worse; sums of zero are left out. Empty
            if no units were passed, because each case is then its own unit.
        facet: the facet that joins cases to units, see `pytest_rageval.analysis.units.Units`; "" if there is none.
    """

    n_pairs: int
    baseline: float | None
    value: float | None
    delta: float | None
    ci95: Interval | None
    p_value: float | None
    p_worse: float | None
    n_worse: int
    n_better: int
    least_drop: float | None
    changing: float = 0.0
    step: float = 1.0
    n_units: int = 0
    changes: Mapping[Hashable, float] = field(default_factory=dict, hash=False)
    facet: str = ""

    def at_level(self, alpha: float) -> PairedTest:
        """Return a copy with the smallest detectable drop of a test at this level."""
        return replace(self, least_drop=least_drop(self.n_units, changing=self.changing, step=self.step, alpha=alpha))


def paired_test(
    baseline: Sequence[float],
    value: Sequence[float],
    *,
    higher_is_better: bool = True,
    alpha: float = 0.05,
    cells: int = 1,
    units: Sequence[Hashable] | None = None,
) -> PairedTest:
    """Compare two runs over the same cases: one value in 0..1 for each case, in the same order.

    The p-values come from permuting the signs of the changes. Cases of one unit change together, so the changes of a
    unit are summed and the sum gets one sign; sums of zero are left out. If all sums have the same size, for example
    with 0/1 values of independent cases, this is McNemar's exact test. With up to 13 sums, every permutation is tried.
    With more, permutations are drawn with a seed made from the sizes, and p is (b + 1) / (B + 1).

    The order of the cases does not matter. Swapping the two runs changes the sign of delta and keeps ``p_value``.

    The interval is Bonett and Price's for 0/1 values of independent cases, `clustered_interval` for units of several
    cases, else `bootstrap_interval`.

    Args:
        baseline: values of the baseline.
        value: values of the new run.
        higher_is_better: whether a lower value is worse.
        alpha: level of the test.
        cells: number of tests decided together with Holm's correction. More tests need more draws, and
            ``least_drop`` is computed at the level of the first test, alpha / cells.
        units: the unit of each case; None makes each case its own unit.
    """
    n = len(baseline)
    if not n:
        return PairedTest(0, None, None, None, None, None, None, 0, 0, None)
    groups = _groups(range(n) if units is None else units)
    changes = [after - before for before, after in zip(baseline, value, strict=True)]
    worse = [-change if higher_is_better else change for change in changes]
    sums = {name: total for name, at in groups.items() if abs(total := math.fsum(worse[i] for i in at)) > ROUNDING}
    sizes = sorted(sums.values(), key=lambda c: (abs(c), c))
    scale = len(groups) / n  # from the sum of a unit to the mean over cases
    losable = [x if higher_is_better else 1 - x for x in (*baseline, *value)]
    step = _step([scale * math.fsum(losable[i + side] for i in at) for at in groups.values() for side in (0, n)])
    changing = chance_share([scale * size / step for size in sizes], len(groups))
    p_value, p_worse = _p_values(sizes, alpha, cells)
    return PairedTest(
        n_pairs=n,
        baseline=fmean(baseline),
        value=fmean(value),
        delta=math.fsum(changes) / n,
        ci95=_interval(baseline, value, changes, list(groups.values())),
        p_value=p_value,
        p_worse=p_worse,
        n_worse=sum(change > ROUNDING for change in worse),
        n_better=sum(change < -ROUNDING for change in worse),
        least_drop=least_drop(len(groups), changing=changing, step=step, alpha=alpha / cells),
        changing=changing,
        step=step,
        n_units=len(groups),
        changes={} if units is None else sums,
    )


def _groups(units: Iterable[Hashable]) -> dict[Hashable, list[int]]:
    """Return the indices of each unit's cases."""
    groups: dict[Hashable, list[int]] = {}
    for at, unit in enumerate(units):
        groups.setdefault(unit, []).append(at)
    return groups


def _step(losable: Sequence[float]) -> float:
    """Return the size of equal losses that have the same sum and the same sum of squares as these losses."""
    total = math.fsum(losable)
    return min(1.0, math.fsum(x * x for x in losable) / total) if total > ROUNDING else 1.0


def _interval(
    baseline: Sequence[float], value: Sequence[float], changes: Sequence[float], groups: Sequence[Sequence[int]]
) -> Interval | None:
    if len(groups) < len(changes):
        return clustered_interval([[changes[i] for i in at] for at in groups], binary=False, low=-1.0)
    if not {*baseline, *value} <= {0.0, 1.0}:
        return bootstrap_interval(changes, low=-1.0)
    return bonett_price_interval(changes.count(1.0), changes.count(-1.0), len(changes))


def _p_values(worse: Sequence[float], alpha: float, cells: int) -> tuple[float, float]:
    """Return the two-sided and the one-sided p-value of changes.

    Args:
        worse: the change of each unit, positive if it became worse, sorted by absolute size.
        alpha: level of the test.
        cells: number of tests decided together.
    """
    n = len(worse)
    sizes = [abs(change) for change in worse]
    if not n:
        return 1.0, 1.0
    if sizes[-1] - sizes[0] <= ROUNDING:
        n_worse = sum(change > 0 for change in worse)
        return min(1.0, 2 * at_least(max(n_worse, n - n_worse), n)), at_least(n_worse, n)
    total = math.fsum(worse)
    if n <= MAX_ENUMERATED:
        return _enumerated(sizes, total)
    return _sampled(sizes, total, alpha, cells)


def _enumerated(sizes: Sequence[float], total: float) -> tuple[float, float]:
    sums = [0.0]
    for size in sizes:
        sums = [*(each + size for each in sums), *(each - size for each in sums)]
    beyond = sum(abs(each) >= abs(total) - ROUNDING for each in sums)
    return beyond / len(sums), sum(each >= total - ROUNDING for each in sums) / len(sums)


def _sampled(sizes: list[float], total: float, alpha: float, cells: int) -> tuple[float, float]:
    import numpy as np

    n = len(sizes)
    steps = np.array(sizes + [0.0] * (-n % 8)).reshape(-1, 8)
    generator = np.random.default_rng(zlib.crc32(steps.tobytes()))
    signs = 1.0 - 2 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
    eights, at = steps @ signs.T, np.arange(len(steps))  # sums of eight sizes each, for each byte of signs
    draws = max(
        int(2 * cells / alpha), min(max(MIN_DRAWS, int(DRAWS_BELOW_ALPHA * cells / alpha)), MAX_BYTES // len(at))
    )
    n_drawn = beyond = above = 0
    while n_drawn < draws:
        size = min(draws - n_drawn, max(1, BATCH_BYTES // len(at)), FIRST_DRAWS if not n_drawn else draws)
        sums = eights[at, generator.integers(0, 256, (size, len(at)), np.uint8)].sum(axis=1)
        beyond += int((np.abs(sums) >= abs(total) - ROUNDING).sum())
        above += int((sums >= total - ROUNDING).sum())
        n_drawn += size
        if FIRST_DRAWS <= n_drawn < draws and beyond > 4 * alpha * n_drawn:
            break
    return (beyond + 1) / (n_drawn + 1), (above + 1) / (n_drawn + 1)
