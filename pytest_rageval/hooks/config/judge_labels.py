"""Parse ``rag_judge_min_kappa``: the agreement with people that judges need."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_rageval.errors import SettingError, short_repr

if TYPE_CHECKING:
    from pytest_rageval.datasets.labels import Label

__all__ = ["KAPPA", "RequiredTrust", "kappas"]

KAPPA = "rag_judge_min_kappa"


@dataclass(frozen=True, slots=True)
class RequiredTrust:
    """The agreement that the judges of a session need.

    Attributes:
        labels: people's labels; each names its judge.
        least: judge, or "" for every other judge -> the minimum kappa.
    """

    labels: tuple[Label, ...] = ()
    least: Mapping[str, float] = field(default_factory=dict)


def kappas(lines: Sequence[str]) -> dict[str, float]:
    """Parse lines ``kappa`` or ``judge: kappa`` into judge -> kappa; "" stands for every other judge."""
    least: dict[str, float] = {}
    for line in lines:
        name, _, number = (part.strip() for part in line.rpartition(":"))
        if name in least:
            raise SettingError(f"{KAPPA} gives two numbers for {short_repr(name) if name else 'every judge'}; give one")
        least[name] = _kappa(line, number)
    return least


def _kappa(line: str, text: str) -> float:
    try:
        kappa = float(text)
    except ValueError:
        kappa = math.nan
    if not 0 < kappa <= 1:
        raise SettingError(
            f"{KAPPA} has the line {short_repr(line)}; write a number above 0 and at most 1, such as 0.6"
        )
    return kappa
