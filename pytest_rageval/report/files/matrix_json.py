"""Encode matrices and their cells for results.json."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_rageval.analysis.cells import Cell
from pytest_rageval.analysis.matrix import Matrix
from pytest_rageval.analysis.statistics import Interval
from pytest_rageval.model.facets import above

__all__ = ["cases_of", "encode_cell", "encode_matrix", "encode_units", "pair_of"]


def encode_matrix(matrix: Matrix) -> dict[str, Any]:
    """Return a matrix with its cells and margins."""
    return (
        {"metric": matrix.metric, "system": matrix.system}
        | ({"minus": matrix.minus} if matrix.minus else {})
        | {
            "row_facet": matrix.row_facet,
            "col_facet": matrix.col_facet,
            "rows": list(matrix.rows),
            "cols": list(matrix.cols),
            "cells": [_encode_cells(row) for row in matrix.cells],
            "row_margin": _encode_cells(matrix.row_margin),
            "col_margin": _encode_cells(matrix.col_margin),
            "total": encode_cell(matrix.total),
            "row_macro": list(matrix.row_macro),
            "col_macro": list(matrix.col_macro),
            "total_macro": matrix.total_macro,
        }
        | ({"row_groups": _encode_groups(matrix)} if matrix.groups else {})
    )


def _encode_groups(matrix: Matrix) -> dict[str, Any]:
    groups = [
        {
            "name": group.name,
            "n_rows": group.n_rows,
            "cells": _encode_cells(group.cells),
            "margin": encode_cell(group.margin),
        }
        for group in matrix.groups
    ]
    return {"facet": above(matrix.row_facet), "groups": groups}


def _encode_cells(cells: Sequence[Cell | None]) -> list[dict[str, Any] | None]:
    return [None if cell is None else encode_cell(cell) for cell in cells]


def encode_cell(cell: Cell) -> dict[str, Any]:
    """Return a cell; its mean is None if no case has a value."""
    plain = {"mean": cell.mean, "n": cell.n, "n_unscored": cell.n_unscored, "ci95": pair_of(cell.ci95)}
    return plain | cases_of(cell.n_cases) | encode_units(cell.n_units, cell.unit)


def cases_of(n_cases: int | None) -> dict[str, int]:
    """Return the number of cases if ``n`` also counts their repeats, else an empty mapping."""
    return {} if n_cases is None else {"n_cases": n_cases}


def encode_units(n_units: int | None, unit: str) -> dict[str, int | str]:
    """Return the number of independent units and what joins their cases; empty if all cases are independent."""
    return {} if n_units is None else {"n_units": n_units, "unit": unit}


def pair_of(interval: Interval | None) -> list[float] | None:
    """Return an interval as a list."""
    return None if interval is None else [interval[0], interval[1]]
