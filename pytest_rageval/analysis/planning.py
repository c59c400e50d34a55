"""What a paired test can show: its power, the smallest drop that it finds, and how many cases a smaller one needs.

The model: of n pairs a share changes, each by the same step, some up and some down; a drop is the surplus of those that
go down, times the step. Where a drop is greater than all that changes, all that changes goes down and more pairs do.
The test is the exact one-sided sign test of the pairs that changed, which for 0/1 values (step 1) is McNemar's. For
graded values the step is the root mean square of their changes, as the permutation test's spread is that of so many
equal steps.

Sources: R. J. Connor, "Sample size for testing differences in proportions for the paired-sample design", Biometrics 43
(1987); Q. McNemar, "Note on the sampling error of the difference between correlated proportions", Psychometrika 12
(1947).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import lru_cache
from statistics import NormalDist

__all__ = ["POWER", "at_least", "cases_needed", "least_drop", "power_of"]

POWER = 0.8
"""How likely a drop should be found."""

MANY = 50  # pairs that change, from which the normal approximation is as good
STEPS = 24  # of a bisection
MOST = 10_000_000  # cases, beyond which a plan is none

_NORMAL = NormalDist()


def power_of(n: int, drop: float, *, changing: float, alpha: float = 0.05) -> float:
    """Return how likely the one-sided test of ``n`` pairs finds a true drop; step 1.

    Exact, but from 50 changing pairs on the normal approximation with a correction for continuity, which is that of
    Connor with one pair more.

    Args:
        n: pairs.
        drop: share of pairs that go down less those that go up, in 0..1.
        changing: share of pairs that change, in 0..1; where the drop is greater, it is the drop.
        alpha: level of the test.
    """
    if drop >= changing:
        return 1 - _below(_unanimous(alpha), n, min(1.0, drop))
    if n * changing < MANY:
        return _exact(n, drop, changing, alpha)
    spread = math.sqrt(n * (changing - drop * drop))
    return _NORMAL.cdf((n * drop - 1 - _NORMAL.inv_cdf(1 - alpha) * math.sqrt(n * changing)) / spread)


def least_drop(
    n: int, *, changing: float, step: float = 1.0, alpha: float = 0.05, power: float = POWER
) -> float | None:
    """Return the smallest drop, in 0..1 and above 0, that ``n`` pairs show with this power; None where none is shown.

    Args:
        n: pairs.
        changing: share of pairs that change, in 0..1; of none, the drop is of pairs that all go down: at 0.05 a test
            needs five of them.
        step: by how much a pair changes, above 0.
        alpha: level of the one-sided test; of a family of m under Holm, alpha / m is on the safe side.
        power: how likely it should be found, in 0..1.
    """
    share = _least_share(n, changing, alpha, power)
    return None if share is None else share * step


def cases_needed(
    drop: float, *, changing: float, step: float = 1.0, alpha: float = 0.05, power: float = POWER
) -> int | None:
    """Return the smallest number of cases that show ``drop`` with this power; the arguments are `least_drop`'s.

    Returns:
        The number; None where ten million are too few, or the drop is above the step.
    """
    share = drop / step
    if not 0 < share <= 1:
        return None

    def shown(n: int) -> bool:
        return power_of(n, share, changing=changing, alpha=alpha) >= power

    few, many = 1, 1
    if share < changing:  # the power of few cases rises in waves, so that each number of them is tried
        down, many = (share + changing) / 2, math.ceil(MANY / changing)
        few = bisect_left(range(many), True, key=lambda n: 1 - _below(_unanimous(alpha), n, down) >= power)
    n = next(filter(shown, range(few, many)), None) or bisect_left(range(MOST), True, lo=many, key=shown)
    return n if n < MOST else None


def at_least(successes: int, n: int) -> float:
    """Return the probability of ``successes`` or more heads of ``n`` fair coins, from exact integers."""
    throws = 1 << n
    if successes > n - successes + 1:
        return _heads(successes, n) / throws
    return (throws - _heads(n - successes + 1, n)) / throws


def _heads(successes: int, n: int) -> int:
    """Return of how many of the 2^n throws of n coins at least ``successes`` are heads."""
    total, ways = 0, 1
    for tails in range(n - successes + 1):
        total += ways
        ways = ways * (n - tails) // (tails + 1)
    return total


def _unanimous(alpha: float) -> int:
    """Return how many pairs must change, all of them for the worse, to pass the test: five at 0.05."""
    return max(1, math.ceil(-math.log2(alpha) - 1e-9))


@lru_cache(maxsize=4096)
def _least_share(n: int, changing: float, alpha: float, power: float) -> float | None:
    low, high = 0.0, 1.0
    if power_of(n, high, changing=changing, alpha=alpha) < power:
        return None
    for _ in range(STEPS):
        middle = (low + high) / 2
        if power_of(n, middle, changing=changing, alpha=alpha) < power:
            low = middle
        else:
            high = middle
    return high


@lru_cache(maxsize=4096)
def _critical(n: int, alpha: float) -> int:
    """Return how many of ``n`` changed pairs must be worse to pass the test; n + 1 where no number passes."""
    worse = n + 1
    while worse > 0 and at_least(worse - 1, n) <= alpha:
        worse -= 1
    return worse


def _exact(n: int, drop: float, changing: float, alpha: float) -> float:
    """Return the power, summed over how many pairs change."""
    down = (1 + drop / changing) / 2
    total, chance = 0.0, (1 - changing) ** n
    odds = changing / (1 - changing) if changing < 1 else 0.0
    for changed in range(n + 1):
        if changing == 1:
            chance = float(changed == n)
        if chance > 1e-9:
            total += chance * _below(changed - _critical(changed, alpha) + 1, changed, 1 - down)
        chance *= odds * (n - changed) / (changed + 1)
        if changed > n * changing and chance < 1e-9:
            break
    return total


def _below(successes: int, n: int, share: float) -> float:
    """Return the probability of fewer than ``successes`` of ``n``, each with probability ``share``."""
    if share >= 1:
        return float(n < successes)
    total, chance = 0.0, (1 - share) ** n
    for found in range(min(successes, n + 1)):
        total += chance
        chance *= share / (1 - share) * (n - found) / (found + 1)
    return min(1.0, total)
