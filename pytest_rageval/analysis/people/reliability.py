"""Compute Krippendorff's alpha: the agreement of raters who may rate different things.

Source: K. Krippendorff, "Computing Krippendorff's alpha-reliability" (2011).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.floating[Any]]

__all__ = ["alpha", "alpha_of", "coincidences", "distances"]


def alpha(units: Sequence[Sequence[float]], levels: Sequence[float]) -> float | None:
    """Return alpha with interval distances, in -1..1; with two levels it equals alpha with nominal distances.

    Formula: 1 - D_o / D_e, with the observed and the expected mean squared distance of two values of a unit.

    Args:
        units: the values that raters gave to each rated thing; a unit with a single value does not count.
        levels: the possible values, ascending.

    Returns:
        None if undefined: no unit has two values, or all values are the same.
    """
    import numpy as np

    at = {level: index for index, level in enumerate(levels)}
    kinds = [[at[value] for value in unit] for unit in units]
    value = alpha_of(np.array([coincidences(kinds, len(levels))], float), distances(levels))[0]
    return None if np.isnan(value) else float(value)


def coincidences(units: Sequence[Sequence[int]], size: int) -> list[list[float]]:
    """Return the table of how often two levels occur in the same unit.

    Each ordered pair of values of a unit with m values counts 1 / (m - 1).

    Args:
        units: the values of each unit, as indices of levels.
        size: number of levels.
    """
    table = [[0.0] * size for _ in range(size)]
    for unit in units:
        for place, one in enumerate(unit):
            for other in (*unit[:place], *unit[place + 1 :]):
                table[one][other] += 1 / (len(unit) - 1)
    return table


def distances(levels: Sequence[float]) -> Numbers:
    """Return the squared distance of every two levels."""
    import numpy as np

    values = np.asarray(levels, float)
    squared: Numbers = (values[:, None] - values) ** 2
    return squared


def alpha_of(tables: Numbers, squared: Numbers) -> Numbers:
    """Return alpha for each table of coincidences; NaN if undefined.

    Args:
        tables: tables from `coincidences`, in the shape (tables, levels, levels).
        squared: the squared distances from `distances`.
    """
    import numpy as np

    by_level = tables.sum(axis=2)
    n = by_level.sum(axis=1)
    observed = (tables * squared).sum(axis=(1, 2))
    expected = (by_level[:, :, None] * by_level[:, None, :] * squared).sum(axis=(1, 2))
    undefined = np.full_like(n, np.nan)
    values: Numbers = 1 - (n - 1) * np.divide(observed, expected, out=undefined, where=expected > 0)
    return values
