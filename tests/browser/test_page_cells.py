"""Every mean and interval of the page is the one that the summary, the gates and results.json have."""

from __future__ import annotations

from typing import Any

import pytest
from pages import Opener
from shown_cells import cells_of, choose, rows_of, same
from written import NOISE, case, failed, outcome, results

from pytest_rageval.analysis.paired import paired
from pytest_rageval.analysis.statistics import bonett_price_interval
from pytest_rageval.report.reread import run_of
from pytest_rageval.report.views import MatrixChoice


def test_the_matrices_of_a_run_are_those_of_the_page(opened: Opener, golden: dict[str, Any]) -> None:
    run, choice = run_of(golden)
    page = opened(golden)
    matrices = run.matrices(choice)
    assert len(matrices) == 4
    for matrix in matrices:
        choose(page, "matrix", "Metric", matrix.metric)
        choose(page, "matrix", "System", matrix.system)
        same(cells_of(page), rows_of(matrix))
    for matrix in run.differences(choice):
        choose(page, "matrix", "Metric", matrix.metric)
        choose(page, "matrix", "System", matrix.system)
        choose(page, "matrix", "Show", f"system:{matrix.minus}")
        same(cells_of(page), rows_of(matrix))


def test_any_metric_over_any_facets_is_what_the_terminal_would_print(opened: Opener, golden: dict[str, Any]) -> None:
    run, _ = run_of(golden)
    page = opened(golden)
    metrics = ("accuracy", "rouge_l", "error_rate", "latency_p95", "cost_usd", "tokens", "n")
    for metric, rows, cols in [(name, "ability", "noise_rate") for name in metrics] + [
        ("accuracy", "language", "system")
    ]:
        choose(page, "matrix", "Metric", metric)
        choose(page, "matrix", "Of", "all")
        choose(page, "matrix", "Rows", rows)
        choose(page, "matrix", "Columns", cols)
        for matrix in run.matrices(MatrixChoice(metric, rows, cols)):
            choose(page, "matrix", "System", matrix.system)
            same(cells_of(page), rows_of(matrix))


def test_repeats_and_the_gain_from_retrieval_are_means_of_cases(opened: Opener) -> None:
    values = {"q1": (1, 0, 1), "q2": (1, 1, 1), "q3": (0, 0, None), "q4": (0, 1, 0)}
    outcomes = [
        case(name, "keeper", value, repeat=str(at), topic="Ferries", knew=str(value).lower())
        for name, runs in values.items()
        for at, value in enumerate(runs, 1)
    ]
    for each in outcomes:
        each["scores"]["closed_book_accuracy"] = {"value": float(each["case_id"] == "q1")}
    given = results(outcomes)
    run, choice = run_of(given)
    page = opened(given)
    same(cells_of(page), rows_of(*run.matrices(choice)))
    assert "n 11 of 4 · 1 unscored" in page.locator("table.heat td button").first.inner_text()
    (gain,) = run.gains(choice)
    choose(page, "matrix", "Metric", gain.metric)
    same(cells_of(page), rows_of(gain))


def test_a_mean_that_is_a_half_is_rounded_as_in_the_terminal(opened: Opener) -> None:
    from pytest_rageval.report.tables import value_text

    eighths = [
        case(f"q{part}-{at}", "keeper", float(at < part), topic=f"{part} of 8") for part in range(9) for at in range(8)
    ]
    page = opened(results(eighths))
    shown = page.locator("table.heat td.margin b").all_inner_texts()
    assert shown[:9] == [value_text(part / 8, "accuracy") for part in range(9)]


def test_the_difference_to_the_baseline_has_the_interval_of_the_comparison(
    opened: Opener, golden: dict[str, Any]
) -> None:
    page = opened(golden)
    choose(page, "matrix", "Show", "baseline")
    *_, fares, _, total = cells_of(page)
    whole, _, cell, *_ = golden["comparison"]["comparisons"]
    assert cell["slice"]["topic"] == "Fares"
    assert fares[1] == (cell["delta"], 3, 0, None)  # of one case there is none
    assert total[-1] == (whole["delta"], 9, 0, tuple(whole["ci95"]))
    assert "n 9 of 3" in page.locator("table.heat tfoot td").nth(2).inner_text()
    assert "minus the baseline" in page.locator("table.heat caption").inner_text()


def test_other_differences_to_the_baseline_have_the_interval_of_a_comparison(
    opened: Opener, golden: dict[str, Any]
) -> None:
    page = opened(golden)
    choose(page, "matrix", "Show", "baseline")
    choose(page, "matrix", "Rows", "noise_rate")
    before = {"0": ([1, 1, 0], [1, 1, 1]), "0.4": ([1, 1, 1], [1, 0, 1]), "0.8": ([1, 0, 1], [0, 0, 1])}
    for row, (then, now) in zip(cells_of(page), before.values(), strict=False):
        wanted = paired([float(x) for x in then], [float(x) for x in now])
        shown = row[-1]
        assert shown is not None
        assert shown[0] == pytest.approx(wanted.delta)
        assert shown[1:3] == (3, 0)
        assert shown[3] == pytest.approx(wanted.ci95)
    choose(page, "matrix", "Metric", "rouge_l")
    choose(page, "matrix", "Of", "all")
    choose(page, "matrix", "Show", "baseline")
    told = cells_of(page)[-1][-1]
    assert told is not None
    assert told[:3] == (0.0, 9, 0)
    assert told[3] == pytest.approx(bonett_price_interval(0, 0, 3))


def test_a_run_that_is_as_the_baseline_is_so_on_the_page(opened: Opener, golden: dict[str, Any]) -> None:
    for each in golden["outcomes"]:
        each["scores"]["rouge_l"] = {"value": 4 / 7}
    for each in golden["baseline"]["cases"]:
        each["scores"]["rouge_l"] = 0.571429  # as a baseline keeps it
    page = opened(golden)
    choose(page, "matrix", "Metric", "rouge_l")
    choose(page, "matrix", "Of", "all")
    choose(page, "matrix", "Show", "baseline")
    choose(page, "matrix", "Rows", "noise_rate")
    told = [cell for row in cells_of(page) for cell in row if cell and cell[1]]
    assert len(told) > 4
    assert {cell[0] for cell in told} == {0.0}
    assert "!" not in page.locator("table.heat").inner_text()


def test_few_cases_and_unscored_ones_are_marked(opened: Opener) -> None:
    outcomes = [
        *(case(f"a{at}", "keeper", 1.0, topic="many") for at in range(5)),
        *(case(f"b{at}", "keeper", 1.0, topic="few") for at in range(4)),
        failed("c", facets={"topic": "few"}),
        outcome("d", testbed=NOISE, facets={"topic": "none"}, scores={"accuracy": {"value": None, "reason": "late"}}),
    ]
    page = opened(results(outcomes))
    cells = {row.split("\t")[0]: row for row in page.locator("table.heat tbody tr").all_inner_texts()}
    few, many = (page.locator(f"table.heat tbody tr:has(bdi:text-is('{name}')) td.margin") for name in ("few", "many"))
    assert few.get_attribute("class") == "margin few"
    assert many.get_attribute("class") == "margin"
    assert "n 4 · 1 unscored" in few.inner_text()
    assert any("no value" in row and "n 0 · 1 unscored" in row for row in cells.values())
