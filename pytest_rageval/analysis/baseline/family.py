"""Adjust the p-values of comparisons that are decided together (family-wise error).

Westfall and Young's step-down: if nothing became worse, the sign of each unit's change is a fair coin. A unit has one
sign in all comparisons that contain it, so comparisons over the same cases cost less than separate ones. Each
comparison is measured by z: the sum of its changes minus the smallest of them (the continuity correction), divided by
the root of the sum of their squares. The adjusted p is how often the highest z among this comparison and those with a
lower z reaches its own z.

A comparison with few changed units never reaches a high z, so it costs the others nothing: this is Tarone's exception
for tests whose smallest attainable p cannot reach their level.

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

ENUMERATED = 13  # highest number of units for which all combinations of signs are tried
DRAWS, FIRST = 9_999, 1_999  # draws of signs; a family far from alpha stops after the first ones
AT_A_TIME = 8_000_000  # signs in one batch
HIGHEST, HALVINGS = 8.0, 24  # highest z of the search for a level, and its number of steps

_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class AdjustedP:
    """One comparison after adjustment for its family.

    Attributes:
        p_value: its one-sided p, adjusted for the family; None if nothing was compared.
        level: the unadjusted one-sided p at which it becomes significant, given the changes of the others.
    """

    p_value: float | None
    level: float


def smallest_p(units: int) -> float:
    """Return the smallest possible one-sided p of a comparison in which ``units`` units change.

    It is that of all units becoming worse: one of 2^units combinations of signs. A gate can never fail if even the
    smallest p of all its units is above ``rag_alpha``.
    """
    return math.ldexp(1.0, -units)


def adjust_family(comparisons: Sequence[PairedTest], alpha: float) -> list[AdjustedP]:
    """Return the adjusted p-values of a family of comparisons, and the level of each.

    Up to 13 changed units, all combinations of signs are tried. For more units, 9,999 are drawn with a fixed seed, and
    p is (b + 1) / (B + 1). The order of the comparisons does not matter.

    Args:
        comparisons: the comparisons, each hypothesis once, with their units' changes.
        alpha: the accepted chance of any false alarm.

    Returns:
        One for each comparison, in the same order. An adjusted p is never below the p of the comparison alone.
    """
    active = sorted((at for at, each in enumerate(comparisons) if each.changes), key=lambda at: -_z(comparisons[at]))
    if len(comparisons) < 2 or not active:
        return [AdjustedP(each.p_worse, alpha) for each in comparisons]
    changes = [comparisons[at].changes for at in active]
    z, shares = _permute(changes, alpha)
    p_values = [each.p_worse for each in comparisons]
    highest = z.max(axis=1)
    highest.sort()
    levels = [_level(highest, highest[:0], alpha)] * len(comparisons)
    shares[-1] = 0.0  # the last one competes with no other: its own p holds, which may be exact
    least = 0.0
    for rank, (at, share) in enumerate(zip(active, shares, strict=True)):
        p_values[at] = least = max(least, share, comparisons[at].p_worse or 0.0)
        own = z[:, rank].copy()
        own.sort()
        levels[at] = _level(highest, own, alpha)
    return [AdjustedP(p_value, level) for p_value, level in zip(p_values, levels, strict=True)]


def _z(comparison: PairedTest) -> float:
    changes = comparison.changes.values()
    total = math.fsum(changes) - min(map(abs, changes))
    return total / math.sqrt(math.fsum(change * change for change in changes))


def _permute(comparisons: Sequence[Mapping[Hashable, float]], alpha: float) -> tuple[Floats, list[float]]:
    """Return the z of each comparison in each draw of signs, and the p of its z among itself and the later ones.

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
        if n_draws >= FIRST and reached.min() > 4 * alpha * n_draws:
            break
    own = 0 if len(units) <= ENUMERATED else 1  # with random draws, the observed signs count as one more draw
    return np.concatenate(parts), [float(each) for each in (reached + own) / (n_draws + own)]


def _signs(units: int) -> Iterator[Floats]:
    """Yield signs of units, a row for each draw; for few units, all combinations."""
    import numpy as np

    if units <= ENUMERATED:
        yield np.where(np.arange(1 << units)[:, None] >> np.arange(units) & 1, -1.0, 1.0)
        return
    generator, left = np.random.default_rng(0), DRAWS
    while left:
        some = min(left, max(1, min(FIRST, AT_A_TIME // units)))
        yield 1.0 - 2 * generator.integers(0, 2, (some, units), np.int8)
        left -= some


def _level(highest: Floats, own: Floats, alpha: float) -> float:
    """Return the highest p whose sum with the chance that only others reach its z is at most alpha.

    Args:
        highest: the highest z of each draw, sorted.
        own: the z of the comparison itself in these draws, sorted; empty if it has none.
        alpha: the accepted chance of any false alarm.
    """

    def chance(z: float) -> float:
        return float((len(highest) - highest.searchsorted(z)) - (len(own) - own.searchsorted(z))) / len(highest)

    low, high = _NORMAL.inv_cdf(1 - alpha), HIGHEST
    if not chance(low):
        return alpha
    for _ in range(HALVINGS):
        z = (low + high) / 2
        low, high = (low, z) if _NORMAL.cdf(-z) + chance(z) <= alpha else (z, high)
    return _NORMAL.cdf(-high)
