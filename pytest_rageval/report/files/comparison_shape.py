"""Types of the baseline and of the comparison with it in results.json; see `results_shape`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, TypedDict

from pytest_rageval.analysis.baseline.snapshot import Measured, MeasuredTestbed
from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.analysis.statistics import Interval
from pytest_rageval.model.storage import Bounds

__all__ = [
    "Baseline",
    "BaselineRun",
    "Compared",
    "ComparedCases",
    "ComparedRun",
    "StoredComparison",
]

Positive = Annotated[int, Bounds(1)]
Count = Annotated[int, Bounds(0)]
Texts = tuple[str, ...]


class Baseline(TypedDict):
    """The committed file, reduced to what the run could be compared with.

    Attributes:
        path: the file's name
    """

    path: str
    schema: Literal[1, 2]
    run: BaselineRun
    fingerprint: str
    versions: Mapping[str, str]
    metrics: Mapping[str, MetricInfo]
    testbeds: Mapping[str, MeasuredTestbed]
    cases: tuple[Measured, ...]


class BaselineRun(TypedDict):
    """The run that became the baseline."""

    id: str
    started: str


class StoredComparison(TypedDict):
    """Comparison of a run with the baseline."""

    baseline: ComparedRun
    cases: ComparedCases
    comparisons: tuple[Compared, ...]


class ComparedRun(TypedDict):
    """The run that is compared with."""

    path: str
    run: str
    started: str
    same_fingerprint: bool


class _ComparedCases(TypedDict):
    compared: int
    new: Texts
    gone: Texts
    changed: Texts
    renamed: tuple[tuple[str, str], ...]
    errors: Texts
    answers_changed: int


class ComparedCases(_ComparedCases, total=False):
    """The cases of the two runs.

    Attributes:
        changed: cases whose content changed
        errors: cases that one of the runs did not score
        answers_changed: cases with another answer and the same scores
        unscored: metric -> number of compared cases with a score in the baseline only; absent if there are none
    """

    unscored: Mapping[str, Positive]


class _Compared(TypedDict):
    testbed: str
    metric: str
    system: str
    slice: Mapping[str, str]
    n_pairs: int
    baseline: float | None
    value: float | None
    delta: float | None
    ci95: Interval | None
    p_value: float | None
    p_holm: float | None
    least_drop: float | None
    broken: Texts
    fixed: Texts
    causes: Mapping[str, Count]


class Compared(_Compared, total=False):
    """A metric of a testbed and system in both runs, over all cases or in a cell.

    Attributes:
        testbed: key into testbeds
        n: number of compared scores; in old results absent and equal to n_pairs
        n_pairs: number of compared cases; one with several settings counts once
        n_units: number of independent units of the cases; only if smaller than the number of cases
        unit: the facet that joins cases to units, or unit for several facets
        p_value: two-sided
        p_holm: p_value corrected over the cells
        broken: node ids, the worst first
        fixed: node ids, the best first
        by_answer: number of causes derived from the gold answer in the passages, because there are no labels; absent
            in old results
    """

    n: int
    n_units: Positive
    unit: str
    by_answer: int
