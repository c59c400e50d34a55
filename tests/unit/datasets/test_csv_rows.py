"""Rows of CSV files with long cells."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_rageval.datasets.csv_rows import rows_of_csv
from pytest_rageval.errors import DataError


@pytest.fixture
def small_cells() -> Iterator[None]:
    """Set a small cell limit, as another reader in the process may do."""
    before = csv.field_size_limit(1_000)
    yield
    csv.field_size_limit(before)


@pytest.mark.usefixtures("small_cells")
@pytest.mark.parametrize("end", ["\n", '\n"'])
def test_long_cells_are_read_and_the_limit_of_the_process_is_restored(end: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"id;answer\n\n1;{'x' * 2_000}{end}", encoding="utf-8")
    if end == "\n":
        assert rows_of_csv(path) == [(1, ["id", "answer"]), (3, ["1", "x" * 2_000])]
    else:
        with pytest.raises(DataError, match=r"a\.csv:4: the row is not valid CSV \(unexpected end of data\)"):
            rows_of_csv(path)
    assert csv.field_size_limit() == 1_000


def test_the_cell_limit_fits_into_32_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.csv").write_text("id\n1\n", encoding="utf-8")
    limits = []

    def set_limit(limit: int) -> int:
        limits.append(limit)
        return 131_072

    monkeypatch.setattr(csv, "field_size_limit", set_limit)
    assert rows_of_csv(tmp_path / "a.csv") == [(1, ["id"]), (2, ["1"])]
    assert max(limits) < 2**31
