"""Tables of the summary: they fit the terminal in any script and mark missing values."""

from __future__ import annotations

from dataclasses import replace

import pytest
from wcwidth import wcswidth

from pytest_rageval.analysis.matrix import matrix_of
from pytest_rageval.model.outcome import Outcome, Score
from pytest_rageval.report.sections.matrices import matrix_blocks
from pytest_rageval.report.text.tables import curve_lines, table_lines


def outcome(number: int, value: float | None = 1.0, **facets: str) -> Outcome:
    scores = {} if value is None else {"accuracy": Score(value)}
    status = "error" if value is None else "scored"
    return Outcome(f"t.py::t[{number}]", f"q{number}", "t.py::t", facets, "s", status, scores=scores)  # type: ignore[arg-type]


def grid(rows: int, cols: int, n: int = 6, name: str = "row") -> list[Outcome]:
    return [
        outcome(r * 1000 + c * 10 + k, float(k % 2), topic=f"{name}{r}", task=f"task_number_{c}")
        for r in range(rows)
        for c in range(cols)
        for k in range(n)
    ]


def test_a_cell_shows_mean_and_n_and_marks_few_cases() -> None:
    matrix = matrix_of(
        "accuracy", True, [*grid(1, 1), outcome(9, 1.0, topic="few", task="task_number_0")], "topic", "task"
    )
    [block] = matrix_blocks(matrix, 80)
    assert block[0].split() == ["topic", "\\", "task", "task_number_0"]
    assert any(line.split() == ["few", "1.00", "(1)*"] for line in block)
    assert any(line.split() == ["row0", "0.50", "(6)"] for line in block)
    assert [line.split() for line in block[-2:]] == [["micro", "0.57", "(7)"], ["macro", "0.75"]]


def test_unscored_cases_are_counted_next_to_n() -> None:
    outcomes = [*grid(1, 1), outcome(7, None, topic="row0", task="task_number_0")]
    [block] = matrix_blocks(matrix_of("accuracy", True, outcomes, "topic", "task"), 80)
    assert block[-1].split() == ["row0", "0.50", "(6+1)"]


def test_a_cell_with_errors_only_has_no_mean() -> None:
    [block] = matrix_blocks(matrix_of("accuracy", True, [outcome(7, None, topic="a", task="b")], "topic", "task"), 80)
    assert block[-1].split() == ["a", "?", "(0+1)*"]


def test_an_empty_cell_is_a_dash_and_never_zero() -> None:
    outcomes = [outcome(1, 1.0, topic="a", task="x"), outcome(2, 1.0, topic="b", task="y")]
    [block] = matrix_blocks(matrix_of("accuracy", True, outcomes, "topic", "task"), 80)
    assert block[2].split() == ["a", "1.00", "(1)*", "–", "1.00", "(1)*", "–"]


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("name", ["row", "基金与衍生品市场"])
def test_a_wide_matrix_is_split_into_blocks_of_columns(width: int, name: str) -> None:
    blocks = matrix_blocks(matrix_of("accuracy", True, grid(4, 12, name=name), "topic", "task"), width)
    assert len(blocks) > 1
    assert all(wcswidth(line) <= width for block in blocks for line in block)
    column_heads = [word for block in blocks for word in block[0].split() if word.startswith("task_number_")]
    assert column_heads == sorted({f"task_number_{c}" for c in range(12)})
    assert all(block[2].split()[0] == f"{name}0" for block in blocks)


def test_a_terminal_narrower_than_one_column_still_gets_every_column() -> None:
    blocks = matrix_blocks(matrix_of("accuracy", True, grid(2, 3), "topic", "task"), 10)
    assert len(blocks) == 5  # three tasks, micro and macro


def test_chinese_columns_line_up() -> None:
    lines = table_lines([["主题", "n"], ["基金", "1"], ["abc", "22"]])
    assert len({wcswidth(line) for line in lines}) == 1


def test_control_and_bidi_characters_are_escaped() -> None:
    text = "\n".join(table_lines([["a\x1b[31m", "b"], ["x\u202ey", "1\n2"]]))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\\x1b[31m" in text
    assert "\\u202e" in text
    assert text.count("\n") == 2


def test_a_curve_has_the_rates_in_order_and_the_change_from_first_to_last() -> None:
    values = {"0": 1.0, "0.4": 1.0, "0.8": 0.0, "1": 0.0}
    outcomes = [outcome(n, value, noise_rate=rate) for n, (rate, value) in enumerate(values.items())]
    [_, *block] = [line.text for line in curve_lines([("test_noise", True, outcomes)], "accuracy", 100)]
    assert block[0].split()[-6:] == ["0", "0.4", "0.8", "1", "change", "curve"]
    assert block[2].split()[-2:] == ["-1.00", "██▁▁"]


def test_a_curve_with_one_scored_rate_shows_no_change() -> None:
    outcomes = [outcome(1, 1.0, noise_rate="0"), outcome(2, None, noise_rate="0.5")]
    [_, *block] = [line.text for line in curve_lines([("t", True, outcomes)], "accuracy", 100)]
    assert block[2].split()[-2:] == ["–", "█·"]


def cells_of(block: list[str]) -> list[list[str]]:
    """Return the head and rows of a table as words; a mean and its n form one word."""
    head, _, *rows = (line.replace(" (", "(").split() for line in block)
    return [head[2:], *rows]


@pytest.mark.parametrize("transposed", [False, True])
def test_a_macro_average_counts_each_cell_once_and_needs_all_cells(transposed: bool) -> None:
    outcomes = [
        *(outcome(at, 1.0, topic="large", task="a") for at in range(8)),
        outcome(8, 0.0, topic="small", task="a"),
        outcome(9, 0.5, topic="small", task="b"),
    ]
    facets = ("topic", "task") if transposed else ("task", "topic")
    matrix = matrix_of("accuracy", False, outcomes, *facets)
    [block] = matrix_blocks(matrix, 80)
    rows = cells_of(block)
    if transposed:
        rows = [[row[at] for row in rows] for at in range(len(rows[0]))]
    assert rows[0][1:] == ["large", "small", "micro", "macro"]
    assert [row[0] for row in rows[1:]] == ["a", "b", "micro", "macro"]
    assert [row[-1] for row in rows[1:]] == ["0.50", "–", "0.62", "–"]
    assert (matrix.row_macro, matrix.col_macro) == (
        ((None, 0.25), (0.5, None)) if transposed else ((0.5, None), (None, 0.25))
    )
    assert (matrix.total_macro, matrix.n_missing) == (None, 1)


def test_all_rows_have_a_macro_average_if_no_cell_is_missing() -> None:
    outcomes = [outcome(at, float(at == 0), topic="x" if at < 2 else "y", task="ab"[at % 2]) for at in range(9)]
    matrix = matrix_of("accuracy", True, outcomes, "topic", "task")
    [block] = matrix_blocks(matrix, 80)
    assert cells_of(block)[1:] == [
        ["x", "1.00(1)*", "0.00(1)*", "0.50(2)*", "0.50"],
        ["y", "0.00(4)*", "0.00(3)*", "0.00(7)", "0.00"],
        ["micro", "0.20(5)", "0.00(4)*", "0.11(9)", "0.10"],
        ["macro", "0.50", "0.00", "0.25", "0.25"],
    ]
    assert (matrix.total_macro, matrix.n_missing) == (0.25, 0)


def test_sums_are_not_averaged() -> None:
    outcomes = [outcome(at, 1.0, topic=name, task=name) for at, name in enumerate("xy")]
    [block] = matrix_blocks(matrix_of("n", True, outcomes, "topic", "task"), 80)
    assert cells_of(block) == [["task", "x", "y", "all"], ["x", "1(1)", "–", "1(1)"], ["y", "–", "1(1)", "1(1)"],
                               ["all", "1(1)", "1(1)", "2(2)"]]  # fmt: skip


@pytest.mark.parametrize("names", ["x", "xy"])
def test_a_single_row_or_column_has_no_margin(names: str) -> None:
    outcomes = [outcome(at, 1.0, topic=name, task="a") for at, name in enumerate(names)]
    margins = ["micro", "macro"] * (len(names) > 1)
    [rows] = matrix_blocks(matrix_of("accuracy", True, outcomes, "topic", "task"), 80)
    assert cells_of(rows)[0] == ["task", "a"]
    assert [row[0] for row in cells_of(rows)[1:]] == [*names, *margins]
    [cols] = matrix_blocks(matrix_of("accuracy", True, outcomes, "task", "topic"), 80)
    assert cells_of(cols)[0] == ["topic", *names, *margins]
    assert [row[0] for row in cells_of(cols)[1:]] == ["a"]


def test_rows_are_grouped_under_their_parent_facet_with_its_mean() -> None:
    places = [("Banking", "Deposits", "x"), ("Banking", "Fees", "x"), ("Insurance", "Fees", "y"), ("", "Tax", "x")]
    outcomes = [
        outcome(at, float(at == 0), topic=topic, task=task, **({"topic_1": parent} if parent else {}))
        for at, (parent, topic, task) in enumerate(places)
    ]
    [block] = matrix_blocks(matrix_of("accuracy", True, outcomes, "topic", "task"), 80)
    assert [line[:12].rstrip() for line in block[2:]] == [
        "Banking", "  Deposits", "  Fees", "Insurance", "  Fees", "-", "  Tax", "micro", "macro",
    ]  # fmt: skip
    assert cells_of(block)[1] == ["Banking", "0.50(2)*", "–", "0.50(2)*", "–"]
    assert cells_of(block)[5] == ["Fees", "–", "0.00(1)*", "0.00(1)*", "–"]


def test_a_matrix_of_sixteen_topics_and_five_tasks_fits_a_common_terminal() -> None:
    outcomes = [
        outcome(t * 100 + k * 10 + n, float(n % 3 > 0), topic=f"A topic of number {t}", topic_1=f"Area {t // 4}",
                task=f"task_number_{k}")
        for t in range(16) for k in range(5) for n in range(6)
    ]  # fmt: skip
    blocks = matrix_blocks(matrix_of("accuracy", True, outcomes, "topic", "task"), 80)
    assert len(blocks) == 2
    assert all(wcswidth(line) <= 80 for block in blocks for line in block)
    assert all(len(block) == 2 + 4 + 16 + 2 for block in blocks)


def test_a_difference_has_its_sign_and_a_mark_if_its_interval_excludes_zero() -> None:
    scores = {"same": (0.5, 0.5), "better": (1.0, 0.0), "mixed": (0.75, 0.25)}
    outcomes = [
        replace(outcome(at, value if topic != "mixed" or at % 2 else 1 - value, topic=topic, task="x"),
                system=system, nodeid=f"{system}{topic}{at}")
        for topic, pair in scores.items() for system, value in zip("ba", pair, strict=True) for at in range(6)
    ]  # fmt: skip
    matrix = matrix_of("accuracy", False, outcomes, "topic", "task", "b", "a")
    [block] = matrix_blocks(matrix, 80)
    assert cells_of(block)[1:] == [
        ["better", "+1.00(6)!"], ["mixed", "+0.00(6)"], ["same", "+0.00(6)"],
        ["micro", "+0.33(18)!"], ["macro", "+0.33"],
    ]  # fmt: skip
