"""Comparisons that are decided together: p-values adjusted so that any false alarm has at most the wanted chance.

Westfall and Young's step-down: if nothing became worse, the sign of each unit's change is that of a fair coin. A unit
has one sign in all comparisons that contain it, so comparisons over the same cases count less than separate ones. Each
comparison is measured by z, the sum of its changes less the smallest of them (the continuity correction), over the root
of the sum of their squares. An adjusted p is how often the highest z of this comparison and of those with a lower z
reaches its own.

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

from pytest_rageval.analysis.paired import ROUNDING, Paired

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["Adjusted", "adjusted", "smallest_p"]

ENUMERATED = 13  # units, up to which every way of giving them signs is tried
DRAWS, FIRST = 9_999, 1_999  # draws of signs; after the first ones a family that is far from alpha is done
AT_A_TIME = 8_000_000  # signs
HIGHEST, HALVINGS = 8.0, 24  # z, beyond which no level is sought, and steps in which it is sought

_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class Adjusted:
    """What a family makes of one comparison.

    Attributes:
        p_value: its one-sided p, adjusted for the family; None if nothing was compared.
        level: the one-sided p before adjustment that it needs to be significant, given the changes of the others.
    """

    p_value: float | None
    level: float


def smallest_p(units: int) -> float:
    """Return the smallest one-sided p that a comparison can have if so many units change.

    All of them then became worse: one of 2^units ways to give them signs. A gate can never fail if even the smallest p
    of all its units is above ``rag_alpha``.
    """
    return math.ldexp(1.0, -units)


def adjusted(found: Sequence[Paired], alpha: float) -> list[Adjusted]:
    """Return the adjusted p-values of a family of comparisons, and the level of each.

    Up to 13 changed units, every way of giving them signs is tried. For more, 9,999 are drawn with a fixed seed, and p
    is (b + 1) / (B + 1). The order of the comparisons changes nothing.

    Args:
        found: the comparisons, each hypothesis once, with their units' changes.
        alpha: the wanted chance of any false alarm.

    Returns:
        As many, in the same order. An adjusted p is never below the p of the comparison alone.
    """
    active = sorted((at for at, each in enumerate(found) if each.changes), key=lambda at: -_z(found[at]))
    if len(found) < 2 or not active:
        return [Adjusted(each.p_worse, alpha) for each in found]
    changes = [found[at].changes for at in active]
    z, shares = _flipped(changes, alpha)
    p_values = [each.p_worse for each in found]
    highest = z.max(axis=1)
    highest.sort()
    levels = [_level(highest, highest[:0], alpha)] * len(found)
    shares[-1] = 0.0  # nothing is left below the last one: its own p holds, which may be exact
    least = 0.0
    for rank, (at, share) in enumerate(zip(active, shares, strict=True)):
        p_values[at] = least = max(least, share, found[at].p_worse or 0.0)
        own = z[:, rank].copy()
        own.sort()
        levels[at] = _level(highest, own, alpha)
    return [Adjusted(p_value, level) for p_value, level in zip(p_values, levels, strict=True)]


def _z(found: Paired) -> float:
    changes = found.changes.values()
    total = math.fsum(changes) - min(map(abs, changes))
    return total / math.sqrt(math.fsum(change * change for change in changes))


def _flipped(comparisons: Sequence[Mapping[Hashable, float]], alpha: float) -> tuple[Floats, list[float]]:
    """Return the z of each comparison in each draw of signs, and the p that its z has among it and the later ones.

    Args:
        comparisons: unit -> change, the comparison with the highest z first.
        alpha: the wanted chance of any false alarm.
    """
    import numpy as np

    units = {unit: at for at, unit in enumerate(sorted(set().union(*comparisons), key=repr))}
    steps = np.zeros((len(units), len(comparisons)))
    for at, changes in enumerate(comparisons):
        steps[[units[unit] for unit in changes], at] = list(changes.values())
    spread = np.sqrt((steps**2).sum(axis=0))
    steps, correction = steps / spread, [min(map(abs, changes.values())) for changes in comparisons] / spread
    observed, reached, done = steps.sum(axis=0) - correction, np.zeros(len(comparisons)), 0
    parts: list[Floats] = []
    for signs in _signs(len(units)):
        z = signs @ steps - correction
        reached += (np.maximum.accumulate(z[:, ::-1], axis=1)[:, ::-1] >= observed - ROUNDING).sum(axis=0)
        parts.append(z)
        done += len(z)
        if done >= FIRST and reached.min() > 4 * alpha * done:
            break
    own = 0 if len(units) <= ENUMERATED else 1  # of draws, the signs as they are count as one more
    return np.concatenate(parts), [float(each) for each in (reached + own) / (done + own)]


def _signs(units: int) -> Iterator[Floats]:
    """Yield signs of units, a row for each draw; if there are few units, every way of giving them signs."""
    import numpy as np

    if units <= ENUMERATED:
        yield 1.0 - 2 * (np.arange(1 << units)[:, None] >> np.arange(units) & 1)
        return
    generator, left = np.random.default_rng(0), DRAWS
    while left:
        some = min(left, max(1, min(FIRST, AT_A_TIME // units)))
        yield 1.0 - 2 * generator.integers(0, 2, (some, units), np.int8)
        left -= some


def _level(highest: Floats, own: Floats, alpha: float) -> float:
    """Return the highest p for which p and the chance that only others reach its z are at most alpha together.

    Args:
        highest: the highest z of each draw, sorted.
        own: the z of the comparison itself in these draws, sorted; empty if it has none.
        alpha: the wanted chance of any false alarm.
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
