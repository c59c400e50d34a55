"""Compute the 95 % interval of a proportion."""

from __future__ import annotations

import math
from statistics import NormalDist

__all__ = ["LEVEL", "wilson_interval"]

LEVEL = 0.95
"""The confidence level of all intervals."""

_Z = NormalDist().inv_cdf(0.5 + LEVEL / 2)


def wilson_interval(successes: float, n: int) -> tuple[float, float]:
    """Return Wilson's 95 % score interval for ``successes`` out of ``n`` > 0.

    Source: E. B. Wilson, "Probable inference", JASA 22 (1927).
    """
    p = successes / n
    z2 = _Z * _Z
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = _Z / (1 + z2 / n) * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    return (min(p, max(0.0, centre - half)), max(p, min(1.0, centre + half)))  # contains p in spite of rounding
