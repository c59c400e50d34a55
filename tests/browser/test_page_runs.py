"""Every kind of run has a page: interrupted, empty, only errors, many systems, without texts."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from support.browser.opened_pages import Opener
from support.browser.shown_cells import cells_of, choose, rows_of, same
from support.browser.written_reports import NOISE, TOWN, Row, case, failed, gate, instance, outcome, results

from pytest_rageval.model.codec import without_texts
from pytest_rageval.report.files.read_results import run_of
from pytest_rageval.report.files.results_json import schema

ROOT = Path(__file__).resolve().parents[2]


def interrupted_run() -> Row:
    skipped = gate("accuracy >= 0.5", "skipped", value=None, n=0, ci95=None, reason="the session was interrupted")
    unfinished = {f"{TOWN}[q2]": TOWN, f"{TOWN}[q3]": TOWN}
    return results([outcome()], gates=[skipped], run={"interrupted": True}, plan={"unfinished": unfinished})


def run_with_systems(n: int) -> Row:
    rates = ("0", "0.4", "0.8")
    names = ["keeper", "second", "third", "fourth", "fifth"][:n]
    runs = [(name, rate, at) for name in names for rate in rates for at in range(3)]
    return results(
        [
            case(f"q{at}", name, float(at > rates.index(rate) - 1), NOISE, noise_rate=rate, topic=f"t{at}")
            for name, rate, at in runs
        ],
        gates=[gate()],
    )


def run_without_texts() -> Row:
    run_results = results([outcome(error=None), failed("q2")])
    run_results["outcomes"] = [without_texts(each) for each in run_results["outcomes"]]
    run_results["instances"] = {name: without_texts(each) for name, each in run_results["instances"].items()}
    return run_results


UNDECIDED = "Nothing failed, and there is no gate"

RUNS: dict[str, tuple[Row, str, list[str]]] = {
    "interrupted": (
        interrupted_run(),
        "Interrupted",
        ["accuracy >= 0.5 of town was not judged: the session was interrupted", "2 cases never ended"],
    ),
    "empty": (results([]), "No case was run", []),
    "all errors": (
        results([failed(f"q{at}") for at in range(3)], gates=[gate("error_rate <= 0", "failed", value=1.0)]),
        "1 of 1 gate failed, and 3 cases",
        ["error_rate <= 0 of town failed", "3 cases ended in an error: 3 DeskClosed"],
    ),
    "a test failed": (
        results([outcome()], gates=[gate()], run={"failed": [outcome()["nodeid"]], "exitstatus": 1}),
        "1 test failed, no gate failed",
        ["1 test failed: test_town[q1-keeper]"],
    ),
    "one case": (results([outcome()]), UNDECIDED, []),
    "one system": (run_with_systems(1), "The gate holds", []),
    "five systems": (run_with_systems(5), "The gate holds", []),
    "without texts": (run_without_texts(), "1 case failed", ["1 case ended in an error: 1 DeskClosed"]),
    "case without gold": (
        results([outcome(history=[])], {"other": instance()}),
        "Nothing failed, and there is no gate",
        [],
    ),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_has_a_page(opened: Opener, name: str) -> None:
    run_results, verdict, sentences = RUNS[name]
    Draft202012Validator(schema()).validate(run_results)
    page = opened(run_results)
    assert page.locator("#verdict-title").inner_text() == verdict
    assert page.locator(".verdict li").all_inner_texts() == sentences
    n = len(run_results["outcomes"])
    if n:
        page.locator("#cases").get_by_role("button", name="Clear").click()
    assert page.locator(".count").inner_text() == f"{n} case{'' if n == 1 else 's'} of {n}"
    for row in page.locator(".row").all()[:3]:
        row.click()
        page.locator("#case-title").wait_for()
    assert page.get_by_role("alert").count() == 0
    if name == "a test failed":
        assert page.locator(".named summary").inner_text() == "Tests that failed: 1"
    if name == "empty":
        assert "Nothing was measured" in page.locator("#matrix").inner_text()
    if name == "all errors":
        assert page.locator("table.heat .margin b").last.inner_text().startswith("no value")
        assert "DeskClosed" in page.locator("#detail").inner_text()
    if name == "without texts":
        assert "Texts are left out of this run's reports" in page.locator("#detail").inner_text()
    if name == "five systems":
        assert page.locator("#charts article").first.locator("polyline.line").count() == 5
        marks = page.locator("#charts article").first.locator(".sample .mark")
        assert len({mark.evaluate("each => each.localName + each.getAttribute('points')") for mark in marks.all()}) == 5


def test_the_example_project_writes_its_page(opened: Opener, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "example_project", tmp_path / "desk", ignore=shutil.ignore_patterns(".*", "__pycache__"))
    command = [sys.executable, "-m", "pytest", "-q", "-k", "test_assistant or handbook", "--rag-html", "out/page.html"]
    process = subprocess.run(command, cwd=tmp_path / "desk", capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout + process.stderr
    (results_file,) = (tmp_path / "desk" / ".rageval" / "runs").glob("*/results.json")
    run_results: dict[str, Any] = json.loads(results_file.read_text(encoding="utf-8"))
    page = opened(run_results)
    html = Path(page.url.removeprefix("file://")).read_text(encoding="utf-8")
    assert (tmp_path / "desk" / "out" / "page.html").read_text(encoding="utf-8") == html
    assert page.locator("#verdict-title").inner_text().startswith("no gate failed, ")
    assert page.locator(".gates tbody tr").count() == len(run_results["gates"])
    assert page.locator("#charts polyline.line").count() > 0
    run, choice = run_of(run_results)
    for matrix in run.matrices(choice):
        choose(page, "matrix", "Metric", matrix.metric)
        same(cells_of(page), rows_of(matrix))
    ids = [each["nodeid"] for each in run_results["outcomes"]]
    page.locator("#cases").get_by_role("button", name="Clear").click()
    page.get_by_role("listbox").press("End")
    page.locator(".nodeid").get_by_text(ids[-1], exact=True).wait_for()
