"""Compute the shares of the types of right and wrong answers, and R-Eval's averages of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from statistics import fmean
from typing import NamedTuple

from pytest_rageval.metrics.diagnosis.diagnose import RIGHT, WRONG
from pytest_rageval.model.outcome import DiagnosisType, Outcome

__all__ = ["COLUMNS", "DiagnosedOutcome", "Shares", "level_macro", "micro", "percents", "task_macro"]

COLUMNS: Mapping[str, tuple[DiagnosisType, ...]] = {
    "ACC": RIGHT,
    **{each: (each,) for each in RIGHT},
    "WA": WRONG,
    **{each: (each,) for each in WRONG},
}
"""Column -> the types that it counts."""

Shares = Mapping[str, float]


class DiagnosedOutcome(NamedTuple):
    """An outcome with the type of its answer.

    Attributes:
        outcome: the outcome.
        type: the type of right or wrong, see `Diagnosis`.
        why: the reason for the type in a few words.
    """

    outcome: Outcome
    type: DiagnosisType
    why: str


def percents(counts: Mapping[DiagnosisType, int]) -> dict[DiagnosisType, int]:
    """Return the counts as whole percentages that sum to 100, by the largest remainder; all 0 if nothing is counted.

    Of equal remainders, the first type is rounded up.
    """
    total = sum(counts.values())
    if not total:
        return dict.fromkeys(counts, 0)
    exact = {name: Fraction(100 * count, total) for name, count in counts.items()}
    whole = {name: int(each) for name, each in exact.items()}
    missing = 100 - sum(whole.values())
    for name in sorted(exact, key=lambda name: whole[name] - exact[name])[:missing]:
        whole[name] += 1
    return whole


def micro(types: Iterable[str]) -> Shares | None:
    """Return the share of each column over answers; None without answers."""
    counts = Counter(types)
    total = counts.total()
    if not total:
        return None
    return {column: sum(counts[each] for each in members) / total for column, members in COLUMNS.items()}


def task_macro(tasks: Iterable[Shares | None]) -> Shares | None:
    """Return the mean of each column over tasks; None if a task is missing."""
    known = list(tasks)
    present = [shares for shares in known if shares is not None]
    if not present or len(present) < len(known):
        return None
    return {column: fmean(shares[column] for shares in present) for column in present[0]}


def level_macro(cells: Iterable[Iterable[Shares | None]]) -> Shares | None:
    """Return the mean of each column over cells of domain and level; a cell's value is the mean over its tasks.

    Return None if a task of a cell is missing.
    """
    return task_macro([task_macro(tasks) for tasks in cells])
