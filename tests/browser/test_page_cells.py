"""Means and intervals of the page equal those of the summary, the gates and results.json."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from support.browser.opened_pages import Opener
from support.browser.shown_cells import cells_of, choose, rows_of, same
from support.browser.written_reports import NOISE, TOWN, case, failed, outcome, results

from pytest_rageval.analysis.baseline.paired_tests import paired_test
from pytest_rageval.analysis.matrix import macro_average
from pytest_rageval.analysis.statistics import bonett_price_interval
from pytest_rageval.report.files.read_results import run_of
from pytest_rageval.report.run.summary_data import MatrixChoice
from pytest_rageval.report.text.tables import value_text


def test_the_page_shows_the_matrices_of_the_run(opened: Opener, golden: dict[str, Any]) -> None:
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


def test_the_page_computes_the_same_matrix_as_the_terminal(opened: Opener, golden: dict[str, Any]) -> None:
    run, _ = run_of(golden)
    page = opened(golden)
    metrics = ("accuracy", "rouge_l", "error_rate", "latency_p95", "cost_usd", "tokens", "tool_calls", "n")
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


def test_macro_averages_equal_those_of_the_terminal(opened: Opener, fixtures_dir: Path) -> None:
    museum = json.loads((fixtures_dir / "reports" / "museum.json").read_text(encoding="utf-8"))
    grid = [case(f"q{r}{c}", "keeper", float(r > c), topic=f"t{r}", task=f"k{c}") for r in range(3) for c in range(2)]
    grid += [case("more", "keeper", 0.0, topic="t2", task="k0")]
    for results_of in (museum, results(grid)):
        run, choice = run_of(results_of)
        matrix = run.matrices(choice)[0]
        page = opened(results_of)
        choose(page, "matrix", "System", matrix.system)
        macro_cells = page.locator("table.heat tbody tr, table.heat tfoot tr").evaluate_all(
            "rows => rows.map(row => [...row.querySelectorAll('td.macro')].map(cell => cell.textContent))"
        )
        group_averages = [*map(macro_average, (group.cells for group in matrix.groups))]
        by_row = [(value,) for value in matrix.row_macro]
        for group, value in zip(reversed(matrix.groups), reversed(group_averages), strict=True):
            before = sum(each.n_rows for each in matrix.groups[: matrix.groups.index(group)])
            by_row.insert(before, (value,))
        last_row = (*matrix.col_macro, macro_average(matrix.row_margin), matrix.total_macro)
        expected = [*by_row, (macro_average(matrix.col_margin),), last_row]
        assert macro_cells == [
            ["–" if mean is None else value_text(mean, "accuracy") for mean in row] for row in expected
        ]
    choose(page, "matrix", "Metric", "tokens")
    assert page.locator("table.heat .macro").count() == 0
    assert page.locator("table.heat thead th").all_inner_texts()[-1] == "all"


def test_the_tab_key_stops_once_in_the_matrix_and_other_keys_move_in_it(opened: Opener, golden: dict[str, Any]) -> None:
    outcomes = [case(f"q{r}-{c}", "keeper", 1.0, topic=f"{r:02}", task=f"{c:02}") for r in range(30) for c in range(20)]
    page = opened(results([each for each in outcomes if each["case_id"] != "q1-1"]))
    table = page.locator("table.heat")
    assert table.locator("button[tabindex='0']").count() == 1
    page.locator("#matrix").get_by_label("Show", exact=True).focus()
    at = (
        "() => { const cell = document.activeElement.closest('td'); return [cell.parentNode.rowIndex, cell.cellIndex] }"
    )
    keys = (
        ("Tab", 1, 1),
        ("ArrowRight", 1, 2),
        ("ArrowDown", 3, 2),
        ("End", 3, 21),
        ("ArrowLeft", 3, 20),
        ("Home", 3, 1),
    )
    for key, row, col in (*keys, ("ArrowUp", 2, 1), ("Control+End", 31, 21), ("Control+Home", 1, 1)):
        page.keyboard.press(key)
        assert page.evaluate(at) == [row, col]
    page.keyboard.press("Control+End")
    head, scroller = (page.locator(selector).bounding_box() for selector in ("table.heat thead th >> nth=1", ".tall"))
    assert head is not None
    assert scroller is not None
    assert head["y"] == pytest.approx(scroller["y"], abs=2)
    assert scroller["height"] < 800
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.closest('#charts') !== null")


def test_repeats_and_the_gain_from_retrieval_are_means_of_cases(opened: Opener) -> None:
    values = {"q1": (1, 0, 1), "q2": (1, 1, 1), "q3": (0, 0, None), "q4": (0, 1, 0)}
    outcomes = [
        case(name, "keeper", value, repeat=str(at), topic="Ferries", knew=str(value).lower())
        for name, runs in values.items()
        for at, value in enumerate(runs, 1)
    ]
    for each in outcomes:
        each["scores"]["closed_book_accuracy"] = {"value": float(each["case_id"] == "q1")}
    run_results = results(outcomes)
    run, choice = run_of(run_results)
    page = opened(run_results)
    same(cells_of(page), rows_of(*run.matrices(choice)))
    assert "11 runs of 4 cases · 1 unscored" in page.locator("table.heat td button").first.inner_text()
    (gain,) = run.gains(choice)
    choose(page, "matrix", "Metric", gain.metric)
    same(cells_of(page), rows_of(gain))


@pytest.mark.parametrize("cluster", ["dialogue", "document"])
def test_intervals_over_dialogues_or_documents_equal_those_of_the_terminal(opened: Opener, cluster: str) -> None:
    outcomes = [
        case(f"d{d}-{turn}", system, float((d * turn + (system == "new")) % 3 > 0), topic=f"t{turn % 2}",
             dialogue=str(d), document=f"x{d // 2 + turn // 3}")
        for d in range(9)
        for turn in range(1 + d % 4)
        for system in ("old", "new")
    ]  # fmt: skip
    run_results = results(outcomes)
    for testbed in run_results["testbeds"].values():
        testbed["cluster"] = cluster
    run, choice = run_of(run_results)
    page = opened(run_results)
    for matrix in run.matrices(choice):
        assert matrix.total.n_units is not None
        choose(page, "matrix", "System", matrix.system)
        same(cells_of(page), rows_of(matrix))
    for matrix in run.differences(choice):
        choose(page, "matrix", "System", matrix.system)
        choose(page, "matrix", "Show", f"system:{matrix.minus}")
        same(cells_of(page), rows_of(matrix))


def test_a_mean_halfway_between_two_digits_is_rounded_as_in_the_terminal(opened: Opener) -> None:
    eighths = [
        case(f"q{part}-{at}", "keeper", float(at < part), topic=f"{part} of 8") for part in range(9) for at in range(8)
    ]
    page = opened(results(eighths))
    means = page.locator("table.heat td.margin b").all_inner_texts()
    assert means[:9] == [value_text(part / 8, "accuracy") for part in range(9)]


def test_the_difference_to_the_baseline_has_the_interval_of_the_comparison(
    opened: Opener, golden: dict[str, Any]
) -> None:
    page = opened(golden)
    choose(page, "matrix", "Show", "baseline")
    *_, fares, _, total = cells_of(page)
    whole, _, cell, *_ = golden["comparison"]["comparisons"]
    assert cell["slice"]["topic"] == "Fares"
    assert fares[1] == (cell["delta"], 3, 0, None)  # one case has no interval
    assert total[-1] == (whole["delta"], 9, 0, tuple(whole["ci95"]))
    assert "9 scores of 3 cases" in page.locator("table.heat tfoot td").nth(2).inner_text()
    assert "minus the baseline" in page.locator("table.heat caption").inner_text()


def test_results_without_a_count_of_scores_have_the_interval_of_the_comparison(
    opened: Opener, golden: dict[str, Any]
) -> None:
    run_results = copy.deepcopy(golden)
    for each in run_results["comparison"]["comparisons"]:
        each["n_pairs"] = each.pop("n")
    page = opened(run_results)
    choose(page, "matrix", "Show", "baseline")
    total = cells_of(page)[-1][-1]
    assert total is not None
    assert total[3] == tuple(run_results["comparison"]["comparisons"][0]["ci95"])


def test_differences_without_a_stored_comparison_have_a_paired_interval(opened: Opener, golden: dict[str, Any]) -> None:
    page = opened(golden)
    choose(page, "matrix", "Show", "baseline")
    choose(page, "matrix", "Rows", "noise_rate")
    before = {"0": ([1, 1, 0], [1, 1, 1]), "0.4": ([1, 1, 1], [1, 0, 1]), "0.8": ([1, 0, 1], [0, 0, 1])}
    for row, (then, now) in zip(cells_of(page), before.values(), strict=False):
        expected = paired_test([float(x) for x in then], [float(x) for x in now])
        cell = row[-1]
        assert cell is not None
        assert cell[0] == pytest.approx(expected.delta)
        assert cell[1:3] == (3, 0)
        assert cell[3] == pytest.approx(expected.ci95)
    choose(page, "matrix", "Metric", "rouge_l")
    choose(page, "matrix", "Of", "all")
    choose(page, "matrix", "Show", "baseline")
    total = cells_of(page)[-1][-1]
    assert total is not None
    assert total[:3] == (0.0, 9, 0)
    assert total[3] == pytest.approx(bonett_price_interval(0, 0, 3))


def test_a_run_equal_to_the_baseline_has_no_difference_on_the_page(opened: Opener, golden: dict[str, Any]) -> None:
    run_results = copy.deepcopy(golden)
    for each in run_results["outcomes"]:
        each["scores"]["rouge_l"] = {"value": 4 / 7}
    for each in run_results["baseline"]["cases"]:
        each["scores"]["rouge_l"] = 0.571429  # a baseline stores six digits
    page = opened(run_results)
    choose(page, "matrix", "Metric", "rouge_l")
    choose(page, "matrix", "Of", "all")
    choose(page, "matrix", "Show", "baseline")
    choose(page, "matrix", "Rows", "noise_rate")
    cells = [cell for row in cells_of(page) for cell in row if cell and cell[1]]
    assert len(cells) > 4
    assert {cell[0] for cell in cells} == {0.0}
    assert "!" not in page.locator("table.heat").inner_text()


def test_cells_with_few_or_unscored_cases_are_marked(opened: Opener) -> None:
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


def test_variants_count_only_in_a_matrix_over_relations(opened: Opener) -> None:
    grid = [case(f"q{at}", "keeper", 1.0, topic="Hours", task="qa") for at in range(3)]
    for relation, value in (("typo", 0.0), ("case", 1.0)):
        labels = {"topic": "Hours", "task": "qa", "relation": relation, "variant": "1"}
        for at in range(3):
            nodeid = f"{TOWN}[q{at}-relation={relation}-variant=1-keeper]"
            grid.append(case(f"q{at}", "keeper", value, **labels) | {"nodeid": nodeid})
    run_results = results(grid)
    run, _ = run_of(run_results)
    page = opened(run_results)
    for rows in ("topic", "relation"):
        choose(page, "matrix", "Rows", rows)
        (matrix,) = run.matrices(MatrixChoice("accuracy", rows, "task"))
        assert matrix.total.n == (3 if rows == "topic" else 9)
        same(cells_of(page), rows_of(matrix))
