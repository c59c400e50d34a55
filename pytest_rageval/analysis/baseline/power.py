"""Compute the power of a paired test, its smallest detectable drop, and the cases needed.

The model: a share of the pairs changes by chance, as many up as down. A drop makes more pairs go down, all by the same
step. The test is the exact one-sided sign test of the changed pairs; for 0/1 values (step 1) it is McNemar's test.

For graded values the step is the drop of a case that loses its whole value. Each change is divided by the step and
squared, because a drop that is spread over more cases is easier to find. At level 0.05 the test needs five changes if
all are for the worse, so the smallest detectable drop is never below five changes.

Sources: R. J. Connor, "Sample size for testing differences in proportions for the paired-sample design", Biometrics 43
(1987); Q. McNemar, "Note on the sampling error of the difference between correlated proportions or percentages",
Psychometrika 12 (1947).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from statistics import NormalDist

__all__ = ["POWER", "at_least", "cases_needed", "chance_share", "least_drop", "power_of"]

POWER = 0.8
"""The chance with which a test should find a drop."""

MIN_CHANCE_CHANGES = 40  # pairs that change by chance; from here on the normal approximation is accurate enough
MIN_CHANGES = 2 * MIN_CHANCE_CHANGES  # changed pairs in all; from here on the approximation is accurate enough, too
TOLERANCE = 1e-4  # accepted distance to the target power
MAX_STEPS = 60  # limit of the search for a drop
NEGLIGIBLE = 1e-9  # probabilities below this are ignored
MAX_CASES = 10_000_000  # highest number of cases of a plan

_NORMAL = NormalDist()


def chance_share(changes: Sequence[float], n: int) -> float:
    """Return the share of units that change by chance, estimated from two runs.

    Chance moves as many units up as down, and a drop only moves units down. The estimate therefore uses the rarer
    direction, so that a drop does not raise it. Two more changes in each direction allow for unobserved changes.

    Formula: 2 (min(worse, better) + 2) / (n + 4), at most 1; worse and better are the numbers of units that
    changed by one step; changes of other sizes count by their squares.

    Args:
        changes: change of each unit in steps, positive if it became worse; units without a change may be left out.
        n: number of units.
    """
    worse, better = (math.fsum(change * change for change in changes if change * sign > 0) for sign in (1, -1))
    return min(1.0, 2 * (min(worse, better) + 2) / (n + 4))


def power_of(n: int, drop: float, *, changing: float, alpha: float = 0.05) -> float:
    """Return the chance that the one-sided test of ``n`` pairs finds a true drop, with step 1.

    The result is exact if the expected number of pairs that change by chance is below 40, and that of all changed pairs
    below 80. Otherwise it is Connor's normal approximation with continuity correction.

    Args:
        n: pairs.
        drop: share of pairs that go down minus the share that go up, in 0..1.
        changing: share of pairs that change by chance, in 0..1.
        alpha: level of the test.
    """
    total = min(1.0, changing + drop)
    if n * changing < MIN_CHANCE_CHANGES and n * total < MIN_CHANGES:
        return _exact(n, total, drop, alpha)
    spread = math.sqrt(n * max(total - drop * drop, 1e-12))
    return _NORMAL.cdf((n * drop - 1 - _NORMAL.inv_cdf(1 - alpha) * math.sqrt(n * total)) / spread)


def least_drop(
    n: int, *, changing: float, step: float = 1.0, alpha: float = 0.05, power: float = POWER
) -> float | None:
    """Return the smallest drop that ``n`` pairs find with this power, above 0 and at most 1; None if there is none.

    Args:
        n: pairs.
        changing: share of pairs that change by chance, in 0..1, see `chance_share`.
        step: change of a changed pair, above 0 and at most 1.
        alpha: level of the one-sided test.
        power: the chance to find the drop, in 0..1.
    """
    share = _least_share(n, changing, alpha, power) if n else None
    return None if share is None else share * step


def cases_needed(
    drop: float, *, changing: float, step: float = 1.0, alpha: float = 0.05, power: float = POWER
) -> int | None:
    """Return the smallest number of cases that find ``drop`` with this power.

    The other arguments have the same meaning as in `least_drop`.

    Returns:
        The number; None if ten million are too few, or if the drop is above the step.
    """
    share = drop / step
    if not 0 < share <= 1:
        return None

    def is_found(n: int) -> bool:
        return power_of(n, share, changing=changing, alpha=alpha) >= power

    total = min(1.0, changing + share)
    n_approximate = math.ceil(min(MIN_CHANCE_CHANGES / max(changing, 1 / MAX_CASES), MIN_CHANGES / total))
    fewest = bisect_left(
        range(n_approximate), True, key=lambda n: _tail(_unanimous(alpha), n, (total + share) / 2) >= power
    )
    # Power can fall as n rises, so each number is tried.
    exact = next(filter(is_found, range(fewest, n_approximate)), None)
    n = exact or bisect_left(range(MAX_CASES), True, lo=n_approximate, key=is_found)
    return n if n < MAX_CASES else None


def at_least(successes: int, n: int) -> float:
    """Return the probability of ``successes`` or more heads of ``n`` fair coins, from exact integers."""
    throws = 1 << n
    if successes > n - successes + 1:
        return _heads(successes, n) / throws
    return (throws - _heads(n - successes + 1, n)) / throws


def _heads(successes: int, n: int) -> int:
    """Return how many of the 2^n throws of n coins have at least ``successes`` heads."""
    total, ways = 0, 1
    for tails in range(n - successes + 1):
        total += ways
        ways = ways * (n - tails) // (tails + 1)
    return total


def _unanimous(alpha: float) -> int:
    """Return how many changed pairs make the test significant if all of them are worse."""
    return max(1, math.ceil(-math.log2(alpha) - 1e-9))


@lru_cache(maxsize=4096)
def _least_share(n: int, changing: float, alpha: float, power: float) -> float | None:
    """Return the smallest detectable share, by false position (Illinois) from the normal approximation."""
    z = _NORMAL.inv_cdf(1 - alpha) + _NORMAL.inv_cdf(power)
    guess = ((z + math.sqrt(z * z + 4 * (n * changing + 1))) / 2) ** 2 / n - changing
    low, below, high = 0.0, -power, min(1.0, guess)
    while (above := power_of(n, high, changing=changing, alpha=alpha) - power) < 0:
        if high == 1:
            return None
        low, below, high = high, above, min(1.0, 1.2 * high)
    side, excess = 0, above
    for _ in range(MAX_STEPS):
        if excess < TOLERANCE:
            break
        middle = (low * above - high * below) / (above - below)
        gap = power_of(n, middle, changing=changing, alpha=alpha) - power
        if gap < 0:
            low, below, above, side = middle, gap, above / (2 if side < 0 else 1), -1
        else:
            high, above, excess, below, side = middle, gap, gap, below / (2 if side > 0 else 1), 1
    return high


@lru_cache(maxsize=4096)
def _critical(n: int, alpha: float) -> int:
    """Return how many of ``n`` changed pairs must be worse for a significant test; n + 1 if no number is enough."""
    worse = n + 1
    while worse > 0 and at_least(worse - 1, n) <= alpha:
        worse -= 1
    return worse


def _exact(n: int, total: float, drop: float, alpha: float) -> float:
    """Return the power, summed over how many pairs change."""
    down = (1 + drop / total) / 2
    return min(
        1.0,
        sum(
            chance * _tail(_critical(changed, alpha), changed, down)
            for changed, chance in enumerate(_binomial(n, total))
            if chance > NEGLIGIBLE
        ),
    )


def _tail(successes: int, n: int, share: float) -> float:
    """Return the probability of ``successes`` or more of ``n``, each with probability ``share``."""
    return 1 - sum(islice(_binomial(n, share), successes))


def _binomial(n: int, share: float) -> Iterator[float]:
    """Yield the probabilities of 0, 1, 2 ... of ``n``, each with probability ``share``, until they are negligible."""
    if share >= 1:
        yield from (float(successes == n) for successes in range(n + 1))
        return
    chance, odds = (1 - share) ** n, share / (1 - share)
    for successes in range(n + 1):
        yield chance
        if successes > n * share and chance < NEGLIGIBLE:
            return
        chance *= odds * (n - successes) / (successes + 1)
