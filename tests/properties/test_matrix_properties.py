"""Laws of matrices for any outcomes of two systems."""

from __future__ import annotations

import random
from math import isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.analysis.matrix import Matrix, matrix_of
from pytest_rageval.model.outcome import Outcome, Score, Status
from pytest_rageval.report.sections.matrices import matrix_blocks

VALUES = st.one_of(st.none(), st.just("parse_error"), st.floats(0, 1))
NAMES = st.sampled_from(["A", "B", "主题", "10", "9"])


@st.composite
def outcomes(draw: st.DrawFn) -> list[Outcome]:
    """Draw the outcomes of some cases under two systems; each system may lack some cases."""
    drawn_outcomes = []
    for at in range(draw(st.integers(1, 12))):
        facets = draw(st.dictionaries(st.sampled_from(["topic_1", "topic", "task"]), NAMES))
        for system in draw(st.sets(st.sampled_from("ab"))):
            value = draw(VALUES)
            status: Status = "error" if value is None else "scored"
            score = Score(reason=value) if isinstance(value, str) else Score(value or 0.0)
            node = f"t[{at}-system={system}]"
            drawn_outcomes.append(
                Outcome(node, f"q{at}", "t", {**facets, "system": system}, system, status, scores={"m": score})
            )
    return drawn_outcomes


def matrix_for(group: list[Outcome], system: str = "", minus: str = "") -> Matrix:
    return matrix_of("m", False, group, "topic", "task", system, minus)


@given(outcomes(), st.sampled_from(["", "a", "b"]))
def test_cells_margins_and_groups_count_every_case_once(group: list[Outcome], system: str) -> None:
    matrix = matrix_for(group, system, "b" if system == "a" else "a" if system else "")
    for cells in (
        [cell for row in matrix.cells for cell in row if cell is not None],
        matrix.row_margin,
        matrix.col_margin,
        *([[each.margin for each in matrix.groups]] if matrix.groups else ()),
    ):
        assert sum(cell.n for cell in cells) == matrix.total.n
        assert sum(cell.n_unscored for cell in cells) == matrix.total.n_unscored
        assert isclose(sum((cell.mean or 0) * cell.n for cell in cells), (matrix.total.mean or 0) * matrix.total.n)
    assert sum(each.n_rows for each in matrix.groups) in (0, len(matrix.rows))


@given(outcomes())
def test_a_macro_average_is_withheld_if_and_only_if_a_cell_is_missing(group: list[Outcome]) -> None:
    matrix = matrix_for(group)
    assert (matrix.total_macro is None) == (matrix.n_missing > 0 or not matrix.rows)
    for macro, row in zip(matrix.row_macro, matrix.cells, strict=True):
        means = [cell.mean for cell in row if cell is not None and cell.mean is not None]
        if macro is None:
            assert len(means) < len(row)
        else:
            assert min(means) - 1e-9 <= macro <= max(means) + 1e-9


@given(outcomes(), st.randoms(use_true_random=False))
def test_the_difference_of_swapped_systems_has_the_opposite_sign(group: list[Outcome], order: random.Random) -> None:
    one, other = matrix_for(group, "a", "b"), matrix_for(order.sample(group, len(group)), "b", "a")
    assert (one.rows, one.cols) == (other.rows, other.cols)
    for row, other_row in zip([*one.cells, one.row_margin], [*other.cells, other.row_margin], strict=True):
        for cell, opposite in zip(row, other_row, strict=True):
            assert (cell is None) == (opposite is None)
            if cell is not None and opposite is not None:
                assert (cell.n, cell.n_unscored) == (opposite.n, opposite.n_unscored)
                assert cell.mean == (None if opposite.mean is None else pytest.approx(-opposite.mean))


@given(outcomes(), st.integers(20, 120))
def test_each_matrix_row_is_one_line_at_any_width(group: list[Outcome], width: int) -> None:
    matrix = matrix_for(group)
    for block in matrix_blocks(matrix, width):
        margins = 2 * (len(matrix.rows) > 1)
        assert len(block) == 2 + len(matrix.rows) + len(matrix.groups) + margins
