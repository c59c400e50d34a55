"""P-values of several tests at once: Holm's for the cells of a comparison, Benjamini and Hochberg's to explore them.

Sources: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6
(1979); Y. Benjamini and Y. Hochberg, "Controlling the false discovery rate", JRSS B 57 (1995).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from pytest_rageval.errors import SettingError, found

__all__ = ["alpha_of", "benjamini_hochberg", "holm"]


def alpha_of(text: str, where: str) -> float:
    """Return the level that is written, a share of false alarms above 0 and below 0.5.

    Raises:
        SettingError: it is none.
    """
    try:
        alpha = float(text)
    except ValueError:
        alpha = math.nan
    if not 0 < alpha < 0.5:
        raise SettingError(f"{where} is {found(text.strip())}; write a share above 0 and below 0.5, such as 0.05")
    return alpha


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return the p-values adjusted so that one at most alpha is a false alarm in at most alpha of all families.

    Formula: of m p-values the k-th smallest times (m - k + 1), and at least what the smaller ones became.

    Args:
        p_values: in 0..1; None is a test that could not be made, stays None and is none of the m.

    Returns:
        As many, in the same order, at most 1 and never below the raw ones.
    """
    order = _ascending(p_values)
    adjusted = list(p_values)
    least = 0.0
    for rank, (p, at) in enumerate(order):
        adjusted[at] = least = max(least, min(1.0, p * (len(order) - rank)))
    return adjusted


def benjamini_hochberg(p_values: Sequence[float | None]) -> list[float | None]:
    """Return q-values: of all tests with one of at most q, a share of q is expected to be false alarms.

    Formula: of m p-values the k-th smallest times m / k, and at most what the greater ones became. It holds for tests
    that are independent or depend on each other positively.

    Args:
        p_values: in 0..1; None is a test that could not be made, stays None and is none of the m.

    Returns:
        As many, in the same order, at most 1 and never below the raw ones.
    """
    order = _ascending(p_values)
    adjusted = list(p_values)
    most = 1.0
    for rank, (p, at) in reversed(list(enumerate(order, 1))):
        adjusted[at] = most = max(p, min(most, p * len(order) / rank))
    return adjusted


def _ascending(p_values: Sequence[float | None]) -> list[tuple[float, int]]:
    """Return the p-values that there are, each with its place."""
    return sorted((p, at) for at, p in enumerate(p_values) if p is not None)
