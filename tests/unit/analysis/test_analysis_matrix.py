from __future__ import annotations

import random
import time

from outcome_samples import failed, outcome, skipped

from pytest_rageval.analysis.cells import Cell, cell_of
from pytest_rageval.analysis.matrix import distinct, matrix_of, present
from pytest_rageval.analysis.statistics import t_interval, wilson_interval
from pytest_rageval.model.outcome import Outcome

OUTCOMES = [
    outcome("a1", 1.0, topic="A", task="qa"),
    outcome("a2", 1.0, topic="A", task="qa"),
    outcome("a3", 1.0, topic="A", task="qa"),
    outcome("a4", 0.0, topic="A", task="chat"),
    outcome("b1", 0.0, topic="B", task="chat"),
    failed("b2", topic="B", task="chat"),
    outcome("b3", "judge_unavailable", topic="B", task="chat"),
    skipped("b4", topic="B", task="qa"),
    skipped("c1", topic="C", task="list"),
]  # fmt: skip


def test_a_matrix_counts_cells_and_margins_over_cases() -> None:
    matrix = matrix_of("accuracy", True, OUTCOMES, "topic", "task", "mine")
    assert (matrix.metric, matrix.row_facet, matrix.col_facet, matrix.system) == ("accuracy", "topic", "task", "mine")
    assert matrix.rows == ("A", "B")
    assert matrix.cols == ("chat", "qa")
    assert matrix.cells == (
        (Cell(0.0, 1, 0, wilson_interval(0, 1)), Cell(1.0, 3, 0, wilson_interval(3, 3))),
        (Cell(0.0, 1, 2, wilson_interval(0, 1)), None),
    )
    assert matrix.row_margin == (Cell(0.75, 4, 0, wilson_interval(3, 4)), Cell(0.0, 1, 2, wilson_interval(0, 1)))
    assert matrix.col_margin == (Cell(0.0, 2, 2, wilson_interval(0, 2)), Cell(1.0, 3, 0, wilson_interval(3, 3)))
    assert matrix.total == Cell(0.6, 5, 2, wilson_interval(3, 5))


def test_an_error_is_unscored_even_where_a_score_was_reached() -> None:
    assert cell_of("accuracy", True, [failed("a", 1.0), outcome("b", 0.0)]) == Cell(0.0, 1, 1, wilson_interval(0, 1))


def test_where_nothing_was_scored_there_is_no_mean() -> None:
    assert cell_of("accuracy", True, [failed("a"), outcome("b", "parse_error")]) == Cell(None, 0, 2, None)
    assert cell_of("accuracy", True, [outcome("a", 1.0, metric="token_f1")]) == Cell(None, 0, 1, None)
    assert cell_of("accuracy", True, []) == Cell(None, 0, 0, None)


def test_values_that_are_no_rate_take_students_interval() -> None:
    outcomes = [outcome("a", 0.2), outcome("b", 0.4), outcome("c", 0.9)]
    assert cell_of("accuracy", False, outcomes) == Cell(0.5, 3, 0, t_interval([0.2, 0.4, 0.9]))


def test_rows_and_columns_are_sorted_numbers_as_numbers_and_nothing_last() -> None:
    values = ["10", "9", "0.5", "1e1", "b", "a", "基金"]
    outcomes = [outcome(v, 1.0, level=v, task="x") for v in values]
    matrix = matrix_of("accuracy", True, [outcome("n", 1.0), *outcomes], "level", "task")
    assert matrix.rows == ("0.5", "9", "10", "1e1", "a", "b", "基金", "-")
    assert matrix.cols == ("x", "-")
    assert matrix.cells[0] == (cell_of("accuracy", True, [outcomes[2]]), None)
    assert matrix.cells[-1] == (None, cell_of("accuracy", True, [outcome("n", 1.0)]))


def test_the_order_of_the_outcomes_does_not_matter() -> None:
    shuffled = random.Random(7).sample(OUTCOMES, len(OUTCOMES))
    assert matrix_of("accuracy", True, shuffled, "topic", "task") == matrix_of(
        "accuracy", True, OUTCOMES, "topic", "task"
    )


def test_a_matrix_of_nothing_is_empty() -> None:
    matrix = matrix_of("accuracy", True, [skipped("a", topic="A")], "topic", "task")
    assert (matrix.rows, matrix.cols, matrix.cells, matrix.row_margin) == ((), (), (), ())
    assert matrix.total == Cell(None, 0, 0, None)


def test_the_values_of_a_facet_are_distinct_and_sorted() -> None:
    outcomes = [outcome(v, 1.0, noise_rate=v) for v in ("0.8", "0", "0.4", "0.8", "0.10")] + [outcome("plain", 1.0)]
    assert present("noise_rate", outcomes)
    assert not present("topic", outcomes)
    assert distinct("noise_rate", outcomes) == ("0", "0.10", "0.4", "0.8")
    assert distinct("topic", outcomes) == ()


def test_a_matrix_of_many_cells_is_linear() -> None:
    def seconds(side: int) -> float:
        outcomes: list[Outcome] = [
            outcome(f"{row}-{col}", 1.0, topic=str(row), task=str(col)) for row in range(side) for col in range(side)
        ]
        times = []
        for _ in range(3):
            start = time.process_time()
            matrix_of("accuracy", True, outcomes, "topic", "task")
            times.append(time.process_time() - start)
        return min(times)  # a collection of garbage in a large process takes longer than all of it

    assert seconds(80) < 40 * max(seconds(20), 0.02)
