"""Encode matrices and their cells for results.json."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_rageval.analysis.cells import Cell
from pytest_rageval.analysis.matrix import Matrix
from pytest_rageval.model.facets import parent_facet
from pytest_rageval.report.run.cell_json import encode_cell

__all__ = ["encode_matrix"]


def encode_matrix(matrix: Matrix) -> dict[str, Any]:
    """Encode a matrix with its cells, margins and groups of rows."""
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
    return {"facet": parent_facet(matrix.row_facet), "groups": groups}


def _encode_cells(cells: Sequence[Cell | None]) -> list[dict[str, Any] | None]:
    return [None if cell is None else encode_cell(cell) for cell in cells]
