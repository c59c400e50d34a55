"""Describe the shape of gates and matrices in results.json; see `results_shape`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, TypedDict

from pytest_rageval.analysis.baseline.regression import Verdict
from pytest_rageval.analysis.cells import Cell
from pytest_rageval.analysis.corrected_cases import LabelsUsed
from pytest_rageval.analysis.statistics import Interval
from pytest_rageval.model.storage import Bounds

__all__ = [
    "GateCell",
    "RowGroup",
    "RowGroups",
    "StoredGate",
    "StoredMatrix",
    "WorstCase",
]

Positive = Annotated[int, Bounds(1)]
Texts = tuple[str, ...]
Slice = Mapping[str, str]
Status = Literal["passed", "failed", "skipped"]


class _Regression(TypedDict, total=False):
    delta: float | None
    delta_ci95: Interval | None
    n_pairs: int
    least_drop: float | None
    n_cases: int
    n_units: Positive
    unit: str


class _Gate(TypedDict):
    expr: str
    scope: str
    nodeid: str
    slice: Slice
    status: Status
    value: float | None
    n: int
    n_errors: int
    ci95: Interval | None
    baseline: float | None
    p_value: float | None
    verdict: Verdict | None
    reason: str | None
    worst: tuple[WorstCase, ...]
    cells: tuple[GateCell, ...]


class StoredGate(_Gate, _Regression, total=False):
    """The result of a gate.

    Attributes:
        n_cases: number of cases, if n also counts their repeats; else absent
        n_units: number of independent units of the cases; only if smaller than the number of cases
        unit: the facet that joins cases to units, or unit for several facets
        p_value: one-sided p-value of a drop, adjusted for all comparisons decided together
        delta: value - baseline, over the cases of both runs; only for baseline gates
        least_drop: smallest detectable drop, with 80 % power
        cells: every cell of a facet=* gate
        labels: the labels that corrected the value; only for people:METRIC
        unscored: reason -> number of answers without a value; absent if there are none; "not_applicable" is left out
    """

    labels: LabelsUsed
    unscored: Mapping[str, Positive]


class WorstCase(TypedDict):
    """A case that missed a failed gate."""

    nodeid: str
    value: float | None


class _GateCell(TypedDict):
    slice: Slice
    status: Status
    value: float | None
    n: int
    ci95: Interval | None


class GateCell(_GateCell, _Regression, total=False):
    """A cell of a facet=* gate.

    Attributes:
        n_units: number of independent units of the cases; only if smaller than the number of cases
        unit: the facet that joins cases to units, or unit for several facets
        reason: why a skipped cell was not judged, or cannot be compared with the baseline
    """

    reason: str
    baseline: float | None
    p_value: float | None
    verdict: Verdict | None
    labels: LabelsUsed


class _Matrix(TypedDict):
    metric: str
    system: str
    row_facet: str
    col_facet: str
    rows: Texts
    cols: Texts
    cells: tuple[tuple[Cell | None, ...], ...]
    row_margin: tuple[Cell, ...]
    col_margin: tuple[Cell, ...]
    total: Cell
    row_macro: tuple[float | None, ...]
    col_macro: tuple[float | None, ...]
    total_macro: float | None


class StoredMatrix(_Matrix, total=False):
    """A metric over two facets.

    Attributes:
        system: name of the system; empty if there is only one
        minus: for a difference, the system whose values are subtracted
        row_margin: micro average over all cases of each row
        col_margin: micro average over all cases of each column
        row_macro: mean of the cells' means, each cell counted once; null if a cell is missing or has no mean
        row_groups: groups of rows, if the row facet, such as topic, has a parent facet, topic_1; else absent
    """

    minus: str
    row_groups: RowGroups


class RowGroups(TypedDict):
    """Groups of rows.

    Attributes:
        facet: the parent facet
        groups: the groups, in the order of the rows, which are sorted by group
    """

    facet: str
    groups: Annotated[tuple[RowGroup, ...], Bounds(items=1)]


class RowGroup(TypedDict):
    """Neighbouring rows with the same value of the parent facet.

    Attributes:
        name: value of the parent facet; - for rows without one
        cells: micro average over all cases of the group in each column
    """

    name: str
    n_rows: Positive
    cells: tuple[Cell | None, ...]
    margin: Cell
