"""Adjust the p-values of several tests by Holm's procedure and Tarone's exclusion.

Sources: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6
(1979); R. E. Tarone, "A modified Bonferroni method for discrete data", Biometrics 46 (1990).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from pytest_rageval.errors import SettingError, short_repr

__all__ = ["alpha_of", "holm", "holm_attainable"]


def alpha_of(text: str, where: str) -> float:
    """Parse a significance level: an accepted share of false alarms, above 0 and below 0.5.

    Raises:
        SettingError: the text is not a level.
    """
    try:
        alpha = float(text)
    except ValueError:
        alpha = math.nan
    if not 0 < alpha < 0.5:
        raise SettingError(f"{where} is {short_repr(text.strip())}; write a share above 0 and below 0.5, such as 0.05")
    return alpha


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return adjusted p-values. Calling those <= alpha significant gives any false alarm at most the chance alpha.

    Formula: the k-th smallest of m p-values times (m - k + 1), and at least the adjusted value of the smaller ones.

    Args:
        p_values: in 0..1; None for a test that could not be made, which stays None and does not count in m.

    Returns:
        One for each p-value, in the same order, at most 1 and never below the raw one.
    """
    order = _ascending(p_values)
    adjusted = list(p_values)
    highest = 0.0
    for rank, (p, at) in enumerate(order):
        adjusted[at] = highest = max(highest, min(1.0, p * (len(order) - rank)))
    return adjusted


def holm_attainable(p_values: Sequence[float], smallest: Sequence[float], alpha: float) -> list[float]:
    """Return Holm's adjusted p-values over the tests that can reach their level; the others get 1.

    A test whose smallest possible p is above alpha / k can never be significant, so it is excluded and does not raise
    the p of the others (Tarone's exclusion). k is the smallest number for which at most k tests remain.

    Args:
        p_values: in 0..1.
        smallest: the smallest possible p of each test.
        alpha: the accepted chance of any false alarm.
    """
    k = next(k for k in range(1, len(p_values) + 2) if sum(least <= alpha / k for least in smallest) <= k)
    adjusted = holm([p if least <= alpha / k else None for p, least in zip(p_values, smallest, strict=True)])
    return [1.0 if p is None else p for p in adjusted]


def _ascending(p_values: Sequence[float | None]) -> list[tuple[float, int]]:
    """Return the p-values without the Nones, ascending, each with its index."""
    return sorted((p, at) for at, p in enumerate(p_values) if p is not None)
