"""Adjust the p-values of several tests: Holm's, and Benjamini and Hochberg's.

Holm's decide the cells of a comparison; Benjamini and Hochberg's are for exploration.

Sources: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6
(1979); Y. Benjamini and Y. Hochberg, "Controlling the false discovery rate", JRSS B 57 (1995).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from pytest_rageval.errors import SettingError, short_repr

__all__ = ["alpha_of", "benjamini_hochberg", "holm"]


def alpha_of(text: str, where: str) -> float:
    """Parse a level, a share of false alarms above 0 and below 0.5.

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
    """Return adjusted p-values: any false alarm among those of at most alpha has at most the chance alpha.

    Formula: the k-th smallest of m p-values times (m - k + 1), and at least the adjusted value of the smaller ones.

    Args:
        p_values: in 0..1; None is a test that could not be made: it stays None and does not count in m.

    Returns:
        One for each p-value, in the same order, at most 1 and never below the raw one.
    """
    order = _ascending(p_values)
    adjusted = list(p_values)
    least = 0.0
    for rank, (p, at) in enumerate(order):
        adjusted[at] = least = max(least, min(1.0, p * (len(order) - rank)))
    return adjusted


def benjamini_hochberg(p_values: Sequence[float | None]) -> list[float | None]:
    """Return q-values: among the tests with a q-value of at most q, the expected share of false alarms is at most q.

    Formula: the k-th smallest of m p-values times m / k, and at most the adjusted value of the greater ones. Valid for
    independent and for positively dependent tests.

    Args:
        p_values: in 0..1; None is a test that could not be made: it stays None and does not count in m.

    Returns:
        One for each p-value, in the same order, at most 1 and never below the raw one.
    """
    order = _ascending(p_values)
    adjusted = list(p_values)
    most = 1.0
    for rank, (p, at) in reversed(list(enumerate(order, 1))):
        adjusted[at] = most = max(p, min(most, p * len(order) / rank))
    return adjusted


def _ascending(p_values: Sequence[float | None]) -> list[tuple[float, int]]:
    """Return the p-values without the Nones, ascending, each with its index."""
    return sorted((p, at) for at, p in enumerate(p_values) if p is not None)
