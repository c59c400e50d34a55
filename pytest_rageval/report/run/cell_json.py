"""Encode cells of matrices, intervals and units for results.json."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_rageval.analysis.cells import Cell
from pytest_rageval.analysis.corrected_cases import LabelsUsed
from pytest_rageval.analysis.statistics import Interval

__all__ = ["decode_cell", "encode_cell", "encode_interval", "encode_n_cases", "encode_units"]


def encode_cell(cell: Cell) -> dict[str, Any]:
    """Encode a cell; its mean is None if no case has a value."""
    plain = {"mean": cell.mean, "n": cell.n, "n_unscored": cell.n_unscored, "ci95": encode_interval(cell.ci95)}
    return plain | encode_n_cases(cell.n_cases) | encode_units(cell.n_units, cell.unit) | _encode_labels(cell.labels)


def decode_cell(plain: Mapping[str, Any]) -> Cell:
    """Decode a cell that `encode_cell` encoded."""
    ci95 = plain["ci95"] and tuple(plain["ci95"])
    return Cell(
        plain["mean"],
        plain["n"],
        plain["n_unscored"],
        ci95,
        plain.get("n_cases"),
        plain.get("n_units"),
        plain.get("unit", ""),
        _decode_labels(plain.get("labels")),
    )


def encode_n_cases(n_cases: int | None) -> dict[str, int]:
    """Encode the number of cases if ``n`` also counts their repeats; empty if it does not."""
    return {} if n_cases is None else {"n_cases": n_cases}


def encode_units(n_units: int | None, unit: str) -> dict[str, int | str]:
    """Encode the number of independent units and the facet that joins cases; empty if all cases are independent."""
    return {} if n_units is None else {"n_units": n_units, "unit": unit}


def _encode_labels(labels: LabelsUsed | None) -> dict[str, Any]:
    """Encode the labels behind a corrected mean; empty if the mean is not corrected."""
    return {} if labels is None else {"labels": {"n": labels.n, "source": labels.source}}


def _decode_labels(plain: Mapping[str, Any] | None) -> LabelsUsed | None:
    return None if plain is None else LabelsUsed(plain["n"], plain["source"])


def encode_interval(interval: Interval | None) -> list[float] | None:
    """Encode an interval as a list of low and high."""
    return None if interval is None else [interval[0], interval[1]]
