"""Tables keep within the terminal, whatever the script, and say what is missing."""

from __future__ import annotations

import pytest
from wcwidth import wcswidth

from pytest_rageval.analysis.matrix import matrix_of
from pytest_rageval.model.outcome import Outcome, Score
from pytest_rageval.report.tables import curve_blocks, matrix_blocks, table_lines


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


def test_a_cell_shows_mean_and_n_and_marks_few() -> None:
    matrix = matrix_of(
        "accuracy", True, [*grid(1, 1), outcome(9, 1.0, topic="few", task="task_number_0")], "topic", "task"
    )
    [block] = matrix_blocks(matrix, 80)
    assert block[0].split() == ["topic", "\\", "task", "task_number_0"]
    assert any(line.split() == ["few", "1.00", "(1)*"] for line in block)
    assert any(line.split() == ["row0", "0.50", "(6)"] for line in block)
    assert block[-1].split() == ["all", "0.57", "(7)"]


def test_unscored_cases_are_counted_beside_n() -> None:
    outcomes = [*grid(1, 1), outcome(7, None, topic="row0", task="task_number_0")]
    [block] = matrix_blocks(matrix_of("accuracy", True, outcomes, "topic", "task"), 80)
    assert block[-1].split() == ["row0", "0.50", "(6+1)"]


def test_a_cell_with_errors_only_has_no_mean() -> None:
    [block] = matrix_blocks(matrix_of("accuracy", True, [outcome(7, None, topic="a", task="b")], "topic", "task"), 80)
    assert block[-1].split() == ["a", "?", "(0+1)*"]


def test_an_empty_cell_is_a_dash_and_never_zero() -> None:
    outcomes = [outcome(1, 1.0, topic="a", task="x"), outcome(2, 1.0, topic="b", task="y")]
    [block] = matrix_blocks(matrix_of("accuracy", True, outcomes, "topic", "task"), 80)
    assert block[2].split() == ["a", "1.00", "(1)*", "–", "1.00", "(1)*"]


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("name", ["row", "基金与衍生品市场"])
def test_a_wide_matrix_wraps_by_blocks_of_columns(width: int, name: str) -> None:
    blocks = matrix_blocks(matrix_of("accuracy", True, grid(4, 12, name=name), "topic", "task"), width)
    assert len(blocks) > 1
    assert all(wcswidth(line) <= width for block in blocks for line in block)
    shown = [word for block in blocks for word in block[0].split() if word.startswith("task_number_")]
    assert shown == sorted({f"task_number_{c}" for c in range(12)})
    assert all(block[2].split()[0] == f"{name}0" for block in blocks)


def test_a_terminal_narrower_than_one_column_still_gets_every_column() -> None:
    blocks = matrix_blocks(matrix_of("accuracy", True, grid(2, 3), "topic", "task"), 10)
    assert len(blocks) == 4  # three tasks and "all"


def test_chinese_columns_line_up() -> None:
    lines = table_lines([["主题", "n"], ["基金", "1"], ["abc", "22"]])
    assert len({wcswidth(line) for line in lines}) == 1


def test_control_and_bidi_characters_are_inert() -> None:
    text = "\n".join(table_lines([["a\x1b[31m", "b"], ["x\u202ey", "1\n2"]]))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\\x1b[31m" in text
    assert "\\u202e" in text
    assert text.count("\n") == 2


def test_a_curve_has_the_rates_in_order_and_the_change_from_first_to_last() -> None:
    values = {"0": 1.0, "0.4": 1.0, "0.8": 0.0, "1": 0.0}
    outcomes = [outcome(n, value, noise_rate=rate) for n, (rate, value) in enumerate(values.items())]
    [block] = curve_blocks([("test_noise", True, outcomes)], "accuracy", 100)
    assert block[0].split()[-5:] == ["0", "0.4", "0.8", "1", "change"]
    assert block[2].split()[-1] == "-1.00"


def test_a_curve_of_one_known_rate_has_no_change() -> None:
    outcomes = [outcome(1, 1.0, noise_rate="0"), outcome(2, None, noise_rate="0.5")]
    [block] = curve_blocks([("t", True, outcomes)], "accuracy", 100)
    assert block[2].split()[-1] == "–"


@pytest.mark.parametrize("turned", [False, True])
def test_datasets_are_averaged_each_counted_once_and_not_where_one_is_missing(turned: bool) -> None:
    outcomes = [
        *(outcome(at, 1.0, dataset="large", system="a") for at in range(8)),
        outcome(8, 0.0, dataset="small", system="a"),
        outcome(9, 0.5, dataset="small", system="b"),
    ]
    facets = ("dataset", "system") if turned else ("system", "dataset")
    [block] = matrix_blocks(matrix_of("accuracy", False, outcomes, *facets), 80)
    rows = [line.replace("(", "").split() for line in block]
    if turned:
        assert (rows[-1][0], rows[-1][1:]) == ("macro", ["0.50", "–", "0.62"])
    else:
        assert rows[0][-1] == "macro"
        assert [row[-1] for row in rows[2:]] == ["0.50", "–", "0.62"]
        assert rows[2][-3] == "0.89"  # of all cases alike


def test_sums_and_other_facets_are_not_averaged() -> None:
    outcomes = [outcome(at, 1.0, dataset=name, topic=name, system="a") for at, name in enumerate("xy")]
    for metric, facet in (("n", "dataset"), ("accuracy", "topic")):
        for facets in ((facet, "system"), ("system", facet)):
            assert "macro" not in str(matrix_blocks(matrix_of(metric, True, outcomes, *facets), 80))


@pytest.mark.parametrize("names", ["x", "xy"])
@pytest.mark.parametrize("rows", ["dataset", "system"])
@pytest.mark.parametrize("cols", ["dataset", "system"])
def test_datasets_are_averaged_wherever_they_stand_as_rows_and_columns_too(rows: str, cols: str, names: str) -> None:
    outcomes = [outcome(at, float(at == 0), dataset=name, system=name) for at, name in enumerate(names)]
    [block] = matrix_blocks(matrix_of("accuracy", True, outcomes, rows, cols), 80)
    table = [line.replace(" (", "(").split() for line in block]
    several = len(names) > 1
    assert table[0][3:] == [*names, *["all"] * several, *["macro"] * (several and cols == "dataset")]
    assert [row[0] for row in table[2:]] == [*names, *["all"] * several, *["macro"] * (several and rows == "dataset")]
    assert {len(row) for row in table[2:]} == {len(table[0]) - 2}
    if several and rows == cols == "dataset":
        assert table[-1] == ["macro", "–", "–", "0.50", "0.50"]
