"""Compare the averages of RaLLe's printed tables with our macro averages, to the printed digit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.analysis.cells import Cell
from pytest_rageval.analysis.matrix import macro_average

BEYOND = {("T3", "e5 DiskANN-REWRITE"): 0.1, ("T8", "RAG(Petroni)"): 0.1}
"""The rows whose printed average is not the rounded one of their printed cells, and how far it may be off."""


@pytest.fixture(scope="module")
def tables(rageval_data: Path) -> Any:
    path = rageval_data.parent / "reference" / "ralle_tables.json"
    if not path.is_file():
        pytest.skip(f"RaLLe's printed tables are not at {path}")
    return json.loads(path.read_text(encoding="utf-8"))


def cells(row: list[float | None]) -> list[Cell]:
    return [Cell(value, 0 if value is None else 1, 0, None) for value in row]


@pytest.mark.parametrize(("names", "rows", "step"), [(("T3", "T8"), 23, 0.1), (("T9",), 16, 0.001)])
def test_its_averages_are_macro_averages(tables: Any, names: tuple[str, ...], rows: int, step: float) -> None:
    printed = {(name, label): row for name in names for label, row in tables[name].items()}
    assert len(printed) == rows
    for key, (row, average) in printed.items():
        ours = macro_average(cells(row))
        assert ours is not None
        assert abs(ours - average) <= BEYOND.get(key, step / 2 + 1e-9), key


def test_a_missing_cell_withholds_the_average(tables: Any) -> None:
    row, _ = tables["T3"]["BM25"]
    assert macro_average(cells([*row[:-1], None])) is None
    assert macro_average([*cells(row[:-1]), None]) is None
    assert macro_average([]) is None
