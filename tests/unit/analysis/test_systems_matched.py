"""Comparison of systems on the same cases, with results calculated by hand."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.analysis.systems.best_of import best_of, best_pairs
from pytest_rageval.analysis.systems.board import Board, Candidate, board_of
from pytest_rageval.analysis.systems.costs import system_costs
from pytest_rageval.analysis.systems.fit import effects
from pytest_rageval.analysis.systems.grid import complete_subgrid, grid_of
from pytest_rageval.analysis.systems.matching import matching_of
from pytest_rageval.errors import SettingError
from pytest_rageval.model.answer import Answer, Step, Usage
from pytest_rageval.model.outcome import Outcome, Score

BINARY = MetricInfo(binary=True)


def outcome(system: str, case: str, value: float | None, facets: Mapping[str, str] | None = None) -> Outcome:
    score = Score(value) if value is not None else Score(reason="not_applicable")
    labels = {"system": system, **(facets or {})}
    return Outcome(f"t[{case}-{system}]", case, "t", labels, system, "scored", Answer("x"), {"accuracy": score})


def board(rows: Mapping[str, str], facets: Mapping[str, Mapping[str, str]] | None = None) -> Board:
    """Return a board with one character for each case of a system: 1 right, 0 wrong, - unscored, space not run."""
    outcomes = [
        outcome(system, f"q{at:03}", None if value == "-" else float(value), (facets or {}).get(system))
        for system, row in rows.items()
        for at, value in enumerate(row)
        if value != " "
    ]
    return board_of(outcomes, "accuracy", BINARY)


def test_the_best_is_separable_from_systems_that_differ_in_a_paired_test() -> None:
    matching = matching_of(
        board({"good": "1" * 40, "bad": "0" * 20 + "1" * 20, "near": "1" * 38 + "00"}),
        alpha=0.05,
        facets=("workflow", "model"),
        axes=(),
    )
    (best,) = matching.best
    assert (best.scope, best.system, best.mean) == ("all", "good", 1.0)
    assert [each.other for each in best.separable] == ["bad"]
    assert [each.other for each in best.not_separable] == ["near"]
    bad, near = best.others
    assert (bad.won, bad.lost, bad.n, bad.p_value) == (20, 0, 40, 2**-19)
    assert (bad.p_adjusted, near.p_value, near.p_adjusted) == (2**-18, 0.5, 0.5)  # Holm over the two
    assert near.least is not None
    assert 0.05 < near.least < 0.5
    assert matching.ranks["all"] == {"good": 1, "bad": 3, "near": 2}


def test_pairs_are_tested_only_on_their_common_cases() -> None:
    matching = matching_of(board({"a": "11 1-", "b": " 0011"}), alpha=0.05, facets=("system", "model"), axes=())
    (pair,) = matching.pairs
    assert (pair.n, pair.won, pair.lost) == (2, 1, 0)


def test_a_cell_without_a_system_is_empty_and_its_averages_are_missing() -> None:
    labels = {
        "a": {"workflow": "react", "model": "m1"},
        "b": {"workflow": "react", "model": "m2"},
        "c": {"workflow": "pal", "model": "m1"},
    }
    grid = grid_of(board({"a": "11", "b": "10", "c": "00"}, labels), "workflow", "model")
    assert (grid.rows, grid.cols) == (("react", "pal"), ("m1", "m2"))
    assert grid.means == [[1.0, 0.5], [0.0, None]]
    assert grid.row_averages == [0.75, None]
    assert grid.col_averages == [0.5, None]
    assert (grid.common_cols, grid.common_averages) == ([0], [1.0, 0.0])


def test_two_systems_in_one_cell_are_rejected_instead_of_averaged() -> None:
    same = {name: {"workflow": "rag", "model": "m"} for name in "ab"}
    grid = grid_of(board({"a": "11", "b": "00"}, same), "workflow", "model")
    assert (grid.row_facet, grid.rows, grid.means) == ("system", ("a", "b"), [[1.0], [0.0]])
    with pytest.raises(SettingError, match="a cell would average systems"):
        grid_of(board({"a": "11", "b": "00"}), "topic", "task")


def test_a_system_of_an_older_run_counts_as_a_workflow() -> None:
    assert board({"a": "1", "b": "1"}).candidates == (Candidate("a", "a", "-"), Candidate("b", "b", "-"))


def test_axes_are_relative_to_the_base_system_and_empty_if_its_mean_is_zero() -> None:
    outcomes = [
        outcome(system, f"q{at}", value, {"domain": domain, "level": "l"})
        for system, values in {"a": (1, 0), "b": (1, 1)}.items()
        for at, (domain, value) in enumerate(zip(("wiki", "law"), values, strict=True))
    ]
    matching = matching_of(
        board_of(outcomes, "accuracy", BINARY),
        alpha=0.05,
        facets=("system", "model"),
        axes=("domain", "level"),
        base="a",
    )
    assert [axis.name for axis in matching.axes] == ["law l", "wiki l"]
    assert [[matching.on_axis(axis, name) for name in "ab"] for axis in matching.axes] == [[None, None], [1.0, 1.0]]
    assert matching.ranks["domain=law"] == {"a": 2, "b": 1}
    assert set(matching.ranks) == {"all", "domain=law", "domain=wiki", "domain=law, level=l", "domain=wiki, level=l"}


def test_a_system_that_did_not_run_on_a_task_has_no_rank_there() -> None:
    outcomes = [
        outcome("a", "q0", 1, {"domain": "wiki", "level": "l"}),
        outcome("a", "q1", 1, {"domain": "law", "level": "l"}),
        outcome("b", "q0", 1, {"domain": "wiki", "level": "l"}),
    ]
    matching = matching_of(
        board_of(outcomes, "accuracy", BINARY), alpha=0.05, facets=("system", "model"), axes=("domain", "level")
    )
    assert matching.ranks["all"] == {"a": 1, "b": None}
    assert matching.ranks["domain=wiki"] == {"a": 1.5, "b": 1.5}


def test_effects_are_estimated_on_the_largest_complete_subgrid() -> None:
    assert complete_subgrid([[True, True, False], [True, True, True], [False, True, True]]) == ([0, 1], [0, 1])
    assert complete_subgrid([[True, True, True], [True, False, True], [True, False, True]]) == ([0, 1, 2], [0, 2])
    assert complete_subgrid([[True, False], [False, True]]) == ([], [])
    assert complete_subgrid([]) == ([], [])
    fit = effects([[0.9, 0.3], [0.5, 0.5]])
    assert fit.mean == pytest.approx(0.55)
    assert fit.rows == pytest.approx((0.05, -0.05))
    assert fit.cols == pytest.approx((0.15, -0.15))
    assert fit.cells[0] == pytest.approx((0.15, -0.15))


@given(st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3), min_size=2, max_size=4))
def test_effects_add_up_to_the_cells_and_cancel_in_rows_and_columns(cells: list[list[float]]) -> None:
    fit = effects(cells)
    for row, effect, interactions in zip(cells, fit.rows, fit.cells, strict=True):
        assert sum(interactions) == pytest.approx(0, abs=1e-9)
        for value, col, cell in zip(row, fit.cols, interactions, strict=True):
            assert fit.mean + effect + col + cell == pytest.approx(value, abs=1e-9)


def test_the_fit_has_an_interval_over_the_common_cases() -> None:
    labels = {f"{w}{m}": {"workflow": w, "model": m} for w in "xy" for m in "12"}
    rows = {"x1": "1" * 20, "x2": "10" * 10, "y1": "10" * 10, "y2": "1" * 19 + "0"}
    fit = matching_of(board(rows, labels), alpha=0.05, facets=("workflow", "model"), axes=()).fit
    assert fit is not None
    assert (fit.rows, fit.cols, fit.n) == (("x", "y"), ("1", "2"), 20)
    assert fit.effects.cells[0][0] == pytest.approx((1 - 0.5 - 0.5 + 0.95) / 4)
    low, high = fit.intervals[0][0] or (0, 0)
    assert 0 < low < fit.effects.cells[0][0] < high


def test_best_of_n_counts_cases_that_at_least_one_system_gets_right() -> None:
    systems_board = board({"a": "1100", "b": "1010", "c": "0000", "d": "111-"})
    best = best_of(systems_board)
    assert best is not None
    assert (best.n, best.mean, best.best, best.single) == (3, 1.0, "d", 1.0)
    systems_board = board({"a": "1100", "b": "1010", "c": "0000"})
    best, pairs = best_of(systems_board), best_pairs(systems_board)
    assert best is not None
    assert (best.mean, best.best, best.single, best.gain) == (0.75, "a", 0.5, 0.25)
    assert [pair.systems for pair in pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert best_of(board({"a": "1 ", "b": " 1"})) is None


def answered_outcome(system: str, case: str, value: float, *, steps: tuple[Step, ...] = (), **usage: float) -> Outcome:
    answer = Answer("x", trace=steps, usage=Usage(**usage))  # type: ignore[arg-type]
    return Outcome(f"t[{case}]", case, "t", {}, system, "scored", answer, {"accuracy": Score(value)})


def test_costs_are_reported_per_answer_and_per_right_answer() -> None:
    steps = (
        Step("tool", {"name": "search", "seconds": 1.0}),
        Step("retrieve", {"seconds": 0.75, "parent": 0}),
        Step("completion", {"seconds": 2.0}),
        Step("end", {"reason": "step_limit"}),
    )
    outcomes = [
        answered_outcome(
            "a", "q1", 1.0, steps=steps, latency_s=4.0, cost_usd=0.3, prompt_tokens=10, completion_tokens=2
        ),
        answered_outcome("a", "q2", 0.0, latency_s=2.0, cost_usd=0.1, prompt_tokens=30, completion_tokens=4),
        Outcome("t[q3]", "q3", "t", {}, "a", "error", error="gone", error_type="tool_unavailable"),
        answered_outcome("b", "q1", 0.0, latency_s=9.0),
    ]
    a, b = system_costs(board_of(outcomes, "accuracy", BINARY))
    assert (a.n, a.mean, a.p50_s, a.mean_s, a.errors, a.outages, a.limits) == (2, 0.5, 3.0, 3.0, 1, 1, 1)
    assert (a.model_calls, a.tool_calls, a.steps) == (1, 1, 3)
    assert (a.prompt_tokens, a.completion_tokens) == (20, 3)
    assert [a.cost_usd, a.cost_per_right] == pytest.approx([0.2, 0.4])
    assert a.shares == pytest.approx({"model": 0.5, "tools": 0.0625, "retrieval": 0.1875, "program": 0, "rest": 0.25})
    assert (b.cost_usd, b.cost_per_right, b.model_calls, b.shares) == (None, None, None, {})
    assert (a.front, b.front, b.dominated_by) == (True, False, ("a",))


def test_calls_that_the_trace_lacks_are_unknown() -> None:
    tool, timed = Step("tool", {"name": "s"}), Step("retrieve", {"seconds": 0.1})
    table = board_of(
        [
            answered_outcome("agent", "c1", 1.0, steps=(tool, Step("thought", {"text": "x"}), tool)),
            answered_outcome("rag", "c1", 1.0, steps=(timed,)),
        ],
        "accuracy",
        BINARY,
    )
    calls = {row.system.name: (row.model_calls, row.tool_calls) for row in system_costs(table)}
    assert calls == {"agent": (None, 2), "rag": (None, None)}


def test_a_replayed_answer_has_no_time() -> None:
    from dataclasses import replace

    from pytest_rageval.model.calls import Calls

    replayed = replace(answered_outcome("a", "q1", 1.0, cost_usd=0.1), calls=Calls(1, 1, 0, 1, 1, 0.1, 0.0))
    (row,) = system_costs(board_of([replayed], "accuracy", BINARY))
    assert (row.p50_s, row.mean_s, row.n_replayed, row.cost_usd) == (None, None, 1, 0.1)
