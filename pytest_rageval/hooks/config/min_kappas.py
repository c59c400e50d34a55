"""Parse ``rag_judge_min_kappa``: the agreement with people that judges must reach."""

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
"""The name of the ini setting."""


@dataclass(frozen=True, slots=True)
class RequiredTrust:
    """The agreement with people that the judges of a session must reach.

    Attributes:
        labels: people's labels of answers; each names the judge that it checks.
        min_kappas: judge -> its minimum kappa; the key "" stands for every other judge.
    """

    labels: tuple[Label, ...] = ()
    min_kappas: Mapping[str, float] = field(default_factory=dict)


def kappas(lines: Sequence[str]) -> dict[str, float]:
    """Parse lines ``kappa`` or ``judge: kappa`` into judge -> kappa; "" stands for every other judge."""
    min_kappas: dict[str, float] = {}
    for line in lines:
        name, _, number = (part.strip() for part in line.rpartition(":"))
        if name in min_kappas:
            raise SettingError(f"{KAPPA} gives two numbers for {short_repr(name) if name else 'every judge'}; give one")
        min_kappas[name] = _kappa(line, number)
    return min_kappas


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
