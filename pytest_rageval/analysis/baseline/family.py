"""Adjust the p-values of comparisons that are decided together (family-wise error).

The method is the step-down procedure of Westfall and Young. If nothing became worse, the change of each unit is
equally likely to have either sign, so signs are drawn at random, many times. A unit gets the same sign in all
comparisons that contain it. Comparisons over the same cases therefore cost less than comparisons over separate cases.

The statistic of a comparison is z: the sum of its changes minus the smallest change (the continuity correction),
divided by the root of the sum of squared changes. Comparisons are ordered by z. The adjusted p of a comparison is the
share of draws in which the highest z among this comparison and those below it reaches the observed z.

A comparison with few changed units never reaches a high z, so it does not raise the p of the others. This is Tarone's
exclusion of tests whose smallest possible p cannot reach their level.

Sources: P. H. Westfall and S. S. Young, "Resampling-based multiple testing" (1993), step-down maxT; R. E. Tarone, "A
modified Bonferroni method for discrete data", Biometrics 46 (1990).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

from pytest_rageval.analysis.baseline.paired_tests import ROUNDING, PairedTest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["AdjustedP", "adjust_family", "smallest_p"]

MAX_ENUMERATED = 13  # highest number of units for which all combinations of signs are tried
DRAWS, FIRST_DRAWS = 9_999, 1_999  # draws of signs; a family far from alpha stops after the first draws
BATCH = 8_000_000  # signs in one batch
MAX_Z, HALVINGS = 8.0, 24  # upper end of the search for a level, and its number of steps

_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class AdjustedP:
    """The p of one comparison, adjusted for its family, and the level that it must reach.

    Attributes:
        p_value: its one-sided p, adjusted for the family; None if nothing was compared.
        level: the highest unadjusted one-sided p with which it is significant, given the changes of the others.
    """

    p_value: float | None
    level: float


def smallest_p(units: int) -> float:
    """Return the smallest possible one-sided p of a comparison in which ``units`` units change.

    It is the p if all units become worse, which is one of 2^units combinations of signs. If the smallest p over all
    units of a gate is above ``rag_alpha``, the gate can never fail.
    """
    return math.ldexp(1.0, -units)


def adjust_family(comparisons: Sequence[PairedTest], alpha: float) -> list[AdjustedP]:
    """Return the adjusted p-values of a family of comparisons, and the level of each.

    With up to 13 changed units, all combinations of signs are tried. With more, 9,999 combinations are drawn with a
    fixed seed, and p is (b + 1) / (B + 1). The order of the comparisons does not matter.

    Args:
        comparisons: the paired tests with the changes of their units; each hypothesis occurs once.
        alpha: the accepted chance of any false alarm.

    Returns:
        The adjusted p and level of each comparison, in the same order. An adjusted p is never below the
        p of the comparison alone.
    """
    changed = [at for at, each in enumerate(comparisons) if each.changes]
    active = sorted(changed, key=lambda at: -_z(comparisons[at]))
    if len(comparisons) < 2 or not active:
        return [AdjustedP(each.p_worse, alpha) for each in comparisons]
    changes = [comparisons[at].changes for at in active]
    z, shares = _permute(changes, alpha)
    p_values = [each.p_worse for each in comparisons]
    highest = z.max(axis=1)
    highest.sort()
    levels = [_level(highest, highest[:0], alpha)] * len(comparisons)
    shares[-1] = 0.0  # the last comparison competes with no other, so its own p counts; that may be exact
    highest_p = 0.0
    for rank, (at, share) in enumerate(zip(active, shares, strict=True)):
        p_values[at] = highest_p = max(highest_p, share, comparisons[at].p_worse or 0.0)
        own_z = z[:, rank].copy()
        own_z.sort()
        levels[at] = _level(highest, own_z, alpha)
    return [AdjustedP(p_value, level) for p_value, level in zip(p_values, levels, strict=True)]


def _z(comparison: PairedTest) -> float:
    changes = comparison.changes.values()
    total = math.fsum(changes) - min(map(abs, changes))
    return total / math.sqrt(math.fsum(change * change for change in changes))


def _permute(comparisons: Sequence[Mapping[Hashable, float]], alpha: float) -> tuple[Floats, list[float]]:
    """Return the z of each comparison in each draw, and the p of its observed z among itself and the later ones.

    Args:
        comparisons: unit -> change, the comparison with the highest z first.
        alpha: the accepted chance of any false alarm.
    """
    import numpy as np

    units = {unit: at for at, unit in enumerate(sorted(set().union(*comparisons), key=repr))}
    steps = np.zeros((len(units), len(comparisons)))
    for at, changes in enumerate(comparisons):
        steps[[units[unit] for unit in changes], at] = list(changes.values())
    spread = np.sqrt((steps**2).sum(axis=0))
    steps, correction = steps / spread, [min(map(abs, changes.values())) for changes in comparisons] / spread
    observed, reached, n_draws = steps.sum(axis=0) - correction, np.zeros(len(comparisons)), 0
    parts: list[Floats] = []
    for signs in _signs(len(units)):
        z = signs @ steps - correction
        reached += (np.maximum.accumulate(z[:, ::-1], axis=1)[:, ::-1] >= observed - ROUNDING).sum(axis=0)
        parts.append(z)
        n_draws += len(z)
        if n_draws >= FIRST_DRAWS and reached.min() > 4 * alpha * n_draws:
            break
    # With random draws, the observed signs count as one more draw.
    observed_draws = 0 if len(units) <= MAX_ENUMERATED else 1
    return np.concatenate(parts), [float(each) for each in (reached + observed_draws) / (n_draws + observed_draws)]


def _signs(units: int) -> Iterator[Floats]:
    """Yield batches of signs, one row for each draw and one column for each unit; for few units, all combinations."""
    import numpy as np

    if units <= MAX_ENUMERATED:
        yield np.where(np.arange(1 << units)[:, None] >> np.arange(units) & 1, -1.0, 1.0)
        return
    generator, remaining = np.random.default_rng(0), DRAWS
    while remaining:
        size = min(remaining, max(1, min(FIRST_DRAWS, BATCH // units)))
        yield 1.0 - 2 * generator.integers(0, 2, (size, units), np.int8)
        remaining -= size


def _level(highest: Floats, own_z: Floats, alpha: float) -> float:
    """Return the level of a comparison: the highest p that keeps the chance of any false alarm at most alpha.

    That chance is p itself plus the chance that only other comparisons reach the z of p.

    Args:
        highest: the highest z of each draw, sorted.
        own_z: the z of the comparison itself in these draws, sorted; empty if it has none.
        alpha: the accepted chance of any false alarm.
    """

    def chance_of_others(z: float) -> float:
        return float((len(highest) - highest.searchsorted(z)) - (len(own_z) - own_z.searchsorted(z))) / len(highest)

    low, high = _NORMAL.inv_cdf(1 - alpha), MAX_Z
    if not chance_of_others(low):
        return alpha
    for _ in range(HALVINGS):
        z = (low + high) / 2
        low, high = (low, z) if _NORMAL.cdf(-z) + chance_of_others(z) <= alpha else (z, high)
    return _NORMAL.cdf(-high)
