"""Heat levels of cells, their positions in lines, and the worst cells."""

from __future__ import annotations

import pytest
from support.samples.run_samples import NOISE

from pytest_rageval.analysis.matrix import Matrix, matrix_of
from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.model.answer import Answer, Usage
from pytest_rageval.model.outcome import Outcome, Score
from pytest_rageval.report.sections.matrices import matrix_lines
from pytest_rageval.report.text.colours import colours_of, paint
from pytest_rageval.report.text.heat import levels_of, worst_lines
from pytest_rageval.report.text.lines import Line, Mark

INFOS = {"accuracy": MetricInfo(), "fake_rate": MetricInfo(higher_is_better=False)}


def matrix(metric: str, values: dict[str, float], n: int = 6) -> Matrix:
    """Return a matrix with one column and these means of its rows."""
    outcomes = [
        Outcome(f"{NOISE}[{name}{at}]", f"{name}{at}", NOISE, {"topic": name, "task": "qa"}, "mine", "scored",
                Answer("x", usage=Usage(cost_usd=value)), {metric: Score(value)})
        for name, value in values.items() for at in range(n)
    ]  # fmt: skip
    return matrix_of(metric, False, outcomes, "topic", "task")


def levels(amounts: Matrix, *values: float) -> list[int]:
    level_of = levels_of(amounts, INFOS)
    assert level_of is not None
    return [level_of(value) for value in values]


def test_shares_have_fixed_levels_that_are_reversed_if_lower_is_better() -> None:
    values = (0.0, 0.19, 0.2, 0.5, 0.79, 0.8, 1.0)
    assert levels(matrix("accuracy", {"a": 0.9, "b": 0.95}), *values) == [0, 0, 1, 2, 3, 4, 4]
    assert levels(matrix("fake_rate", {"a": 0.9, "b": 0.95}), *values) == [4, 4, 3, 2, 1, 0, 0]
    assert levels(matrix("error_rate", {"a": 0.9, "b": 0.95}), 0.0, 1.0) == [4, 0]


def test_amounts_are_scaled_between_their_extremes_and_counts_have_no_level() -> None:
    assert levels(matrix("cost_usd", {"a": 0.1, "b": 0.3, "c": 0.2}), 0.6, 1.2, 1.8) == [4, 2, 0]
    assert levels_of(matrix("cost_usd", {"a": 0.1, "b": 0.1}), INFOS) is None
    assert levels_of(matrix("n", {"a": 0.1, "b": 0.3}), INFOS) is None
    assert levels_of(matrix_of("accuracy", True, [], "topic", "task"), INFOS) is None


def test_marks_cover_the_cells_even_after_wide_characters() -> None:
    lines = list(matrix_lines([matrix("accuracy", {"基金与衍生品": 1.0, "b": 0.0})], INFOS, 80))
    marks = {line.text.split()[0]: [line.text[m.start : m.end] for m in line.marks] for line in lines if line.marks}
    assert marks == {
        "b": ["0.00 (6)"],
        "基金与衍生品": ["1.00 (6)"],
        "micro": ["0.50 (12)"],
        "macro": ["0.50"],
    }


def test_colours_do_not_change_the_text() -> None:
    line = Line("a  0.00  1.00", "", (Mark(3, 7, 0), Mark(9, 13, 4)))
    assert paint(line, 0, "utf-8") == line.text
    assert paint(line, 16, "utf-8") == "a  \x1b[30;43m0.00\x1b[0m  \x1b[30;46m1.00\x1b[0m"
    assert paint(Line("all of it", "red"), 256, None) == "\x1b[31mall of it\x1b[0m"
    assert paint(Line("\x1b[2J", "bold"), 16, None) == "\x1b[1m\\x1b[2J\x1b[0m"


@pytest.mark.parametrize(
    ("environment", "colours"),
    [({}, 16), ({"TERM": "xterm"}, 16), ({"TERM": "xterm-256color"}, 256), ({"COLORTERM": "truecolor"}, 256)],
)
def test_the_environment_decides_the_number_of_colours(environment: dict[str, str], colours: int) -> None:
    assert colours_of(environment) == colours


def worst(*matrices: Matrix) -> list[str]:
    _, _, *rows = worst_lines(matrices, INFOS)
    return [line.text.split("  ")[-1].split()[0] for line in rows]


def test_the_five_worst_of_ten_cells_are_listed() -> None:
    values = {f"t{at}": at / 10 for at in range(10)}
    assert worst(matrix("accuracy", values)) == ["t0", "t1", "t2", "t3", "t4"]
    assert worst(matrix("fake_rate", values)) == ["t9", "t8", "t7", "t6", "t5"]
    assert list(worst_lines([matrix("accuracy", {f"t{at}": 0.1 for at in range(9)})], INFOS)) == []
    assert list(worst_lines([matrix("n", values)], INFOS)) == []
    assert list(worst_lines([], INFOS)) == []


def test_worst_cells_are_worse_than_the_total() -> None:
    assert list(worst_lines([matrix("accuracy", {f"t{at}": 1.0 for at in range(12)})], INFOS)) == []
    assert worst(matrix("accuracy", {f"t{at}": float(at > 1) for at in range(12)})) == ["t0", "t1"]
