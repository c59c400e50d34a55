"""Matrices of a metric over two facets, and differences of two systems."""

from __future__ import annotations

import random
import time
from dataclasses import replace

from support.samples.outcome_samples import failed, outcome, repeats, skipped

from pytest_rageval.analysis.cells import GAIN, MODEL_ACCURACY, RAG_ACCURACY, Cell, cell_of, difference_of
from pytest_rageval.analysis.matrix import facet_values, has_facet, matrix_of
from pytest_rageval.analysis.statistics import bootstrap_interval
from pytest_rageval.metrics.shared.proportion import wilson_interval
from pytest_rageval.model.outcome import Outcome, Score

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


def test_an_error_is_unscored_even_with_a_score() -> None:
    assert cell_of("accuracy", True, [failed("a", 1.0), outcome("b", 0.0)]) == Cell(0.0, 1, 1, wilson_interval(0, 1))


def test_the_mean_is_missing_without_scores() -> None:
    assert cell_of("accuracy", True, [failed("a"), outcome("b", "parse_error")]) == Cell(None, 0, 2, None)
    assert cell_of("accuracy", True, [outcome("a", 1.0, metric="token_f1")]) == Cell(None, 0, 1, None)
    assert cell_of("accuracy", True, []) == Cell(None, 0, 0, None)


def test_graded_values_get_the_bootstrap_interval() -> None:
    outcomes = [outcome("a", 0.2), outcome("b", 0.4), outcome("c", 0.9)]
    assert cell_of("accuracy", False, outcomes) == Cell(0.5, 3, 0, bootstrap_interval([0.2, 0.4, 0.9]))


def test_rows_and_columns_sort_numbers_by_value_and_missing_values_last() -> None:
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


def test_a_matrix_without_scored_cases_is_empty() -> None:
    matrix = matrix_of("accuracy", True, [skipped("a", topic="A")], "topic", "task")
    assert (matrix.rows, matrix.cols, matrix.cells, matrix.row_margin) == ((), (), (), ())
    assert matrix.total == Cell(None, 0, 0, None)


def test_the_values_of_a_facet_are_distinct_and_sorted() -> None:
    outcomes = [outcome(v, 1.0, noise_rate=v) for v in ("0.8", "0", "0.4", "0.8", "0.10")] + [outcome("plain", 1.0)]
    assert has_facet("noise_rate", outcomes)
    assert not has_facet("topic", outcomes)
    assert facet_values("noise_rate", outcomes) == ("0", "0.10", "0.4", "0.8")
    assert facet_values("topic", outcomes) == ()


def test_topics_of_the_same_name_under_different_parents_stay_separate() -> None:
    outcomes = [
        outcome("a", 1.0, topic_1="Banking", topic="Fees", task="qa"),
        outcome("b", 0.0, topic_1="Banking", topic="Cards", task="qa"),
        outcome("c", 0.0, topic_1="Insurance", topic="Fees", task="qa"),
        outcome("d", 1.0, topic_1="Insurance", topic="Fees", task="chat"),
        outcome("e", 1.0, topic="Fees", task="chat"),
        outcome("f", 1.0, task="chat"),
    ]
    matrix = matrix_of("accuracy", True, outcomes, "topic", "task")
    assert matrix.rows == ("Cards", "Fees", "Fees", "Fees", "-")
    assert [(group.name, group.n_rows, group.margin.n) for group in matrix.groups] == [
        ("Banking", 2, 2), ("Insurance", 1, 2), ("-", 2, 2),
    ]  # fmt: skip
    assert matrix.groups[0].cells == (None, cell_of("accuracy", True, outcomes[:2]))
    assert [row.mean for row in matrix.row_margin] == [0.0, 1.0, 0.5, 1.0, 1.0]
    assert matrix_of("accuracy", True, outcomes, "topic_1", "task").groups == ()
    assert matrix_of("accuracy", True, outcomes, "task", "topic").groups == ()


def under(system: str, *outcomes: Outcome) -> list[Outcome]:
    return [replace(each, system=system, facets={**each.facets, "system": system}) for each in outcomes]


def test_systems_are_compared_on_the_cases_that_both_were_scored_on() -> None:
    values: dict[str, tuple[float, float | str | None]] = {
        "q1": (1.0, 0.0),
        "q2": (1.0, 1.0),
        "q3": (0.75, 0.25),
        "q4": (0.5, "parse_error"),
        "q6": (0.0, None),
    }
    pairs = list(values.items())
    ours = under("b", *(outcome(name, x, topic="A", task="qa") for name, (x, _) in pairs), skipped("q7", topic="A"))
    theirs = under("a", *(outcome(name, y, topic="A", task="qa") for name, (_, y) in pairs), failed("q5", topic="A"))
    for both in (ours + theirs, theirs[::-1] + ours):
        matrix = matrix_of("accuracy", False, both, "topic", "task", "b", "a")
        assert matrix.cells == ((Cell(0.5, 3, 2, bootstrap_interval([1.0, 0.0, 0.5], -1.0)), Cell(None, 0, 1, None)),)
        assert matrix.total == Cell(0.5, 3, 3, bootstrap_interval([1.0, 0.0, 0.5], -1.0))
        assert matrix.is_difference
    opposite = matrix_of("accuracy", False, ours + theirs, "topic", "task", "a", "b")
    assert opposite.total.mean == -0.5


def test_repeated_cases_are_compared_by_their_means() -> None:
    ours = under("b", *repeats("q1", 1.0, 0.0), *repeats("q2", 1.0, None))
    theirs = under("a", *repeats("q1", 0.0, 0.0), *repeats("q2", 0.5, 1.0), *repeats("q3", 1.0, 1.0))
    assert difference_of("accuracy", [*ours, *theirs], "b") == Cell(0.375, 2, 1, bootstrap_interval([0.5, 0.25], -1.0))


def test_the_gain_is_the_difference_between_the_systems_with_and_without_retrieval() -> None:
    rows = [(f"q{at}", float(at % 3 > 0), float(at % 2), "AB"[at % 2 * (at > 4)]) for at in range(12)]
    outcomes_with_gain = [
        replace(outcome(name, with_it, topic=topic),
                scores={RAG_ACCURACY: Score(with_it), MODEL_ACCURACY: Score(without)})
        for name, with_it, without, topic in rows
    ]  # fmt: skip
    outcomes_by_system = under("llm", *(outcome(name, value, topic=topic) for name, value, _, topic in rows))
    outcomes_by_system += under("closed_book", *(outcome(name, value, topic=topic) for name, _, value, topic in rows))
    gain = matrix_of(GAIN, False, outcomes_with_gain, "topic", "task")
    difference = matrix_of("accuracy", False, outcomes_by_system, "topic", "task", "llm", "closed_book")
    assert gain.rows == ("A", "B")
    assert (gain.cells, gain.row_margin, gain.total) == (difference.cells, difference.row_margin, difference.total)
    assert gain.total.ci95 == bootstrap_interval([x - y for _, x, y, _ in rows], -1.0)


def test_the_time_of_a_matrix_is_linear_in_its_cells() -> None:
    def seconds(side: int) -> float:
        outcomes: list[Outcome] = [
            outcome(f"{row}-{col}", 1.0, topic=str(row), task=str(col)) for row in range(side) for col in range(side)
        ]
        times = []
        for _ in range(3):
            start = time.process_time()
            matrix_of("accuracy", True, outcomes, "topic", "task")
            times.append(time.process_time() - start)
        return min(times)  # in a large process, one garbage collection takes longer than the matrix

    assert seconds(80) < 40 * max(seconds(20), 0.02)
