"""Encode a comparison of systems as JSON and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from pytest_rageval.analysis.cells import Cell
from pytest_rageval.analysis.systems.best_of import BestOf
from pytest_rageval.analysis.systems.matching import ALL, Matching

__all__ = ["matching_csv", "matching_json"]

COLUMNS = ("table", "row", "col", "system", "value", "n", "n_unscored", "ci_low", "ci_high")


def matching_json(matching: Matching, *, common: bool = False) -> dict[str, Any]:
    """Return a comparison as JSON values; ``common`` adds averages over the columns that every row has."""
    board = matching.board
    return {
        "metric": board.metric,
        "higher_is_better": board.info.higher_is_better,
        "alpha": matching.alpha,
        "systems": [
            {
                "system": each.name,
                "workflow": each.workflow,
                "model": None if each.model == "-" else each.model,
                "rank": matching.ranks[ALL][each.name],
                **_encode_cell(matching.overall.get(each.name)),
            }
            for each in board.candidates
        ],
        "grid": _encode_grid(matching, common=common),
        "axes": [
            {
                "where": dict(axis.where),
                "systems": {name: _encode_cell(cell) for name, cell in axis.cells.items()},
                "values": {each.name: matching.on_axis(axis, each.name) for each in board.candidates},
            }
            for axis in matching.axes
        ],
        "normalized_by": matching.base or None,
        "ranks": {scope: dict(ranks) for scope, ranks in matching.ranks.items()},
        "best": [
            {
                "of": each.scope,
                "system": each.system,
                "mean": each.mean,
                "separable": [other.other for other in each.separable],
                "not_separable": [other.other for other in each.not_separable],
                "tests": [asdict(other) for other in each.others],
            }
            for each in matching.best
        ],
        "pairs": [asdict(each) for each in matching.pairs],
        "fit": _encode_fit(matching),
        "best_of_n": None if matching.best_of is None else _encode_best_of(matching.best_of),
        "best_of_pairs": [_encode_best_of(each) for each in matching.best_pairs],
    }


def matching_csv(matching: Matching) -> str:
    """Return the grid and the axes as CSV, one row for each cell with a system."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(_rows(matching))
    return stream.getvalue()


def _rows(matching: Matching) -> Iterator[tuple[object, ...]]:
    grid = matching.grid
    for row, cells, systems in zip(grid.rows, grid.cells, grid.systems, strict=True):
        for col, cell, system in zip(grid.cols, cells, systems, strict=True):
            if cell is not None:
                yield "grid", row, col, system, *_figures(cell, cell.mean)
    for axis in matching.axes:
        for name, cell in axis.cells.items():
            yield (
                "axes",
                name,
                axis.name,
                name,
                *_figures(cell, matching.on_axis(axis, name), normalized_by=matching.base),
            )


def _figures(cell: Cell, value: float | None, *, normalized_by: str = "") -> tuple[object, ...]:
    low, high = ("", "") if cell.ci95 is None or normalized_by else cell.ci95
    return "" if value is None else value, cell.n, cell.n_unscored, low, high


def _encode_grid(matching: Matching, *, common: bool) -> dict[str, Any]:
    grid = matching.grid
    common_averages = {
        "common": {"cols": [grid.cols[at] for at in grid.common_cols], "row_averages": grid.common_averages},
    }
    return {
        "row_facet": grid.row_facet,
        "col_facet": grid.col_facet,
        "rows": list(grid.rows),
        "cols": list(grid.cols),
        "cells": [
            [
                None if cell is None else {"system": system, **_encode_cell(cell)}
                for cell, system in zip(*row, strict=True)
            ]
            for row in zip(grid.cells, grid.systems, strict=True)
        ],
        "row_averages": grid.row_averages,
        "col_averages": grid.col_averages,
        **(common_averages if common else {}),
    }


def _encode_fit(matching: Matching) -> dict[str, Any] | None:
    fit = matching.fit
    if fit is None:
        return None
    effects = fit.effects
    return {
        "rows": list(fit.rows),
        "cols": list(fit.cols),
        "n": fit.n or None,
        "mean": effects.mean,
        "row_effects": dict(zip(fit.rows, effects.rows, strict=True)),
        "col_effects": dict(zip(fit.cols, effects.cols, strict=True)),
        "cells": [list(row) for row in effects.cells],
        "ci95": [[None if ci is None else list(ci) for ci in row] for row in fit.intervals],
    }


def _encode_best_of(each: BestOf) -> dict[str, Any]:
    return {**asdict(each), "gain": each.gain}


def _encode_cell(cell: Cell | None) -> Mapping[str, Any]:
    if cell is None:
        return {"mean": None, "n": 0, "n_unscored": 0, "ci95": None}
    ci95 = None if cell.ci95 is None else list(cell.ci95)
    return {"mean": cell.mean, "n": cell.n, "n_unscored": cell.n_unscored, "ci95": ci95}
