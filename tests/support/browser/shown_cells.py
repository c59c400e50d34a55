"""Cells of the matrix on a page, and the same cells as the analysis computes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pytest

from pytest_rageval.analysis.cells import Cell
from pytest_rageval.analysis.matrix import Matrix

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["Plain", "cells_of", "choose", "rows_of", "same"]

Plain = tuple[float | None, int, int, tuple[float, float] | None]


def choose(page: Page, within: str, label: str, value: str) -> None:
    page.locator(f"#{within}").get_by_label(label, exact=True).first.select_option(value)


def cells_of(page: Page) -> list[list[Plain | None]]:
    """Return the cells of a page's matrix row by row, with the margins and without the macro averages."""
    read = """table => [...table.querySelectorAll("tr:not(.macros)")].slice(1).map(row =>
        [...row.querySelectorAll("td:not(.macro)")].map(cell => ({...cell.querySelector("button")?.dataset})))"""
    return [[_cell(each) for each in row] for row in page.locator("table.heat").evaluate(read)]


def _cell(each: Mapping[str, str]) -> Plain | None:
    if not each:
        return None
    ends = [float(end) for end in each.get("ci95", "").split()]
    mean = float(each["mean"]) if "mean" in each else None
    return mean, int(each["n"]), int(each["unscored"]), (ends[0], ends[1]) if ends else None


def rows_of(matrix: Matrix) -> list[list[Cell | None]]:
    """Return the rows of a matrix in the order of the page: under their groups, each with its margin."""
    rows: list[list[Cell | None]] = [
        [*row, margin] for row, margin in zip(matrix.cells, matrix.row_margin, strict=True)
    ]
    for group in reversed(matrix.groups):
        before = sum(each.n_rows for each in matrix.groups[: matrix.groups.index(group)])
        rows.insert(before, [*group.cells, group.margin])
    return [*rows, [*matrix.col_margin, matrix.total]]


def same(page: Sequence[Sequence[Plain | None]], matrix: Sequence[Sequence[Cell | None]]) -> None:
    assert [len(row) for row in page] == [len(row) for row in matrix]
    for one, other in zip((c for row in page for c in row), (c for row in matrix for c in row), strict=True):
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            assert one[0] == (None if other.mean is None else pytest.approx(other.mean, abs=1e-12))
            assert one[1:3] == (other.n, other.n_unscored)
            assert one[3] == (None if other.ci95 is None else pytest.approx(other.ci95, abs=1e-9))
