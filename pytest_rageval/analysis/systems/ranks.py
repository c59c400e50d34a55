"""Rank values with ties, and write ranks as ordinals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

__all__ = ["TIES", "Ties", "ordinal", "ranks"]

Ties = Literal["average", "min", "dense"]

TIES: tuple[Ties, ...] = get_args(Ties)
"""How equal values are ranked: by their mean rank, by their first rank, or with no gap in the ranks after them."""

_ROUNDING = 1e-9  # values closer than this differ only by rounding

_SUFFIXES = {1: "st", 2: "nd", 3: "rd"}


def ranks(
    values: Mapping[str, float | None], *, higher_is_better: bool = True, ties: Ties = "average"
) -> dict[str, float | None]:
    """Return the rank of each value, from 1 for the best; None for a missing value.

    Formula, for a value with b better values and e equal values (including itself): ``average`` b + (e + 1) / 2,
    ``min`` b + 1, ``dense`` 1 + the number of different better values.
    """
    known = [value for value in values.values() if value is not None]
    rank_of: dict[str, float | None] = {}
    for name, value in values.items():
        if value is None:
            rank_of[name] = None
            continue
        better = [each for each in known if (each - value if higher_is_better else value - each) > _ROUNDING]
        equal = sum(abs(each - value) <= _ROUNDING for each in known)
        if ties == "dense":
            rank_of[name] = float(1 + len({round(each / _ROUNDING) for each in better}))
        else:
            rank_of[name] = len(better) + (1.0 if ties == "min" else (equal + 1) / 2)
    return rank_of


def ordinal(rank: float | None) -> str:
    """Return a rank as text: ``1st``, ``11th``, ``21st``; ``1.5`` for a shared rank; a dash for None."""
    if rank is None:
        return "–"
    if not float(rank).is_integer():
        return f"{rank:g}"
    whole = int(rank)
    teen = whole % 100 in (11, 12, 13)
    return f"{whole}{'th' if teen else _SUFFIXES.get(whole % 10, 'th')}"
