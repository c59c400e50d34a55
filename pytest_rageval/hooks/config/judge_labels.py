"""Parse ``rag_judge_labels`` and ``rag_judge_min_kappa``: the agreement that judges need."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rageval.errors import SettingError, short_repr

if TYPE_CHECKING:
    from pytest_rageval.datasets.labels import Label

__all__ = ["KAPPA", "LABELS", "RequiredTrust", "TrustSetting", "parse_trust"]

LABELS, KAPPA = "rag_judge_labels", "rag_judge_min_kappa"


@dataclass(frozen=True, slots=True)
class TrustSetting:
    """The ini settings for the agreement of judges.

    Attributes:
        labels: the file of people's labels; None if not set.
        least: judge, or "" for every other judge -> the minimum kappa.
    """

    labels: Path | None = None
    least: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RequiredTrust:
    """The agreement that the judges of a session need.

    Attributes:
        labels: people's labels; each names its judge.
        least: judge, or "" for every other judge -> the minimum kappa.
    """

    labels: tuple[Label, ...] = ()
    least: Mapping[str, float] = field(default_factory=dict)


def parse_trust(labels: str, kappas: Sequence[str], folder: Path) -> TrustSetting:
    """Parse the ini settings for the agreement of judges, and check their form.

    Args:
        labels: the file of labels, or "".
        kappas: lines ``kappa`` or ``judge: kappa``.
        folder: the folder that the file's path is relative to.
    """
    text = labels.strip()
    least: dict[str, float] = {}
    for line in kappas:
        name, _, number = (part.strip() for part in line.rpartition(":"))
        if name in least:
            raise SettingError(f"{KAPPA} gives two numbers for {short_repr(name) if name else 'every judge'}; give one")
        least[name] = _kappa(line, number)
    if bool(text) != bool(least):
        setting, missing = (LABELS, KAPPA) if text else (KAPPA, LABELS)
        raise SettingError(f"{setting} has no effect without {missing}; set both, or neither")
    if not text:
        return TrustSetting()
    path = folder / text
    if not path.is_file():
        raise SettingError(f"{LABELS} names {short_repr(str(path))}, and there is no such file; correct the path")
    return TrustSetting(path, least)


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
