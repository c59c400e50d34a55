"""Golden files of terminal and Markdown output; ``RAGEVAL_RENEW=1`` rewrites them."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from support.snapshots import check
from wcwidth import wcswidth

from pytest_rageval.report.export.markdown import markdown_of
from pytest_rageval.report.files.read_results import run_of
from pytest_rageval.report.files.results_json import results_of, schema
from pytest_rageval.report.run.json_text import decode_results
from pytest_rageval.report.terminal.summary import summary_lines
from pytest_rageval.report.text.colours import paint
from pytest_rageval.report.text.lines import Line

Results = dict[str, Any]


def museum(fixtures_dir: Path) -> Results:
    results: Results = json.loads((fixtures_dir / "reports" / "museum.json").read_text(encoding="utf-8"))
    return results


def keep_outcomes(results: Results, keep: Callable[[Results], bool]) -> Results:
    """Return a run with some of the outcomes and no baseline."""
    results["outcomes"] = [each for each in results["outcomes"] if keep(each)]
    ids = {each["case_id"] for each in results["outcomes"]}
    results["instances"] = {name: each for name, each in results["instances"].items() if name in ids}
    results["run"]["failed"] = [each["nodeid"] for each in results["outcomes"] if each["status"] == "error"]
    n = len(results["outcomes"])
    results["run"]["exitstatus"] = 1 if n else 5
    results["usage"] |= {"calls": n, "attempts": n, "prompt_tokens": 120 * n, "completion_tokens": 8 * n}
    results["usage"] |= {"cost_usd": 0.0002 * n, "spent_usd": 0.0002 * n}
    return without_baseline(results)


def without_baseline(results: Results) -> Results:
    for key in ("baseline", "comparison"):
        results.pop(key, None)
    for testbed in results["testbeds"].values():
        testbed["gates"] = [gate for gate in testbed["gates"] if "baseline" not in gate]
    results["gates"] = [gate for gate in results["gates"] if "baseline" not in gate["expr"]]
    return results


def errors(results: Results) -> Results:
    for each in results["outcomes"]:
        each |= {"status": "error", "answer": None, "scores": {}, "error": "no such model", "error_type": "not_found"}
    return keep_outcomes(results, lambda each: True)


def interrupted(results: Results) -> Results:
    results["run"]["interrupted"] = True
    for each in results["outcomes"][40:]:
        results["plan"]["unfinished"][each["nodeid"]] = each["testbed"]
    del results["outcomes"][40:]
    return results


def five_systems(results: Results) -> Results:
    quick_outcomes = [each for each in results["outcomes"] if each["system"] == "quick"]
    for number in range(3):
        for each in copy.deepcopy(quick_outcomes):
            system = f"系统-{number}"
            each |= {"nodeid": f"{each['nodeid'][:-1]}{number}]", "system": system}
            each["facets"] |= {"system": system}
            results["outcomes"].append(each)
    return keep_outcomes(results, lambda each: True)


def unchanged(results: Results) -> Results:
    return results


RUNS: dict[str, Callable[[Results], Results]] = {
    "two-systems": unchanged,
    "one-system": lambda results: keep_outcomes(results, lambda each: each["system"] == "quick"),
    "five-systems": five_systems,
    "one-case": lambda results: keep_outcomes(results, lambda each: each is results["outcomes"][0]),
    "empty": lambda results: keep_outcomes(results, lambda each: False),
    "all-errors": errors,
    "interrupted": interrupted,
}


def lines_of(results: Results, width: int = 80) -> list[Line]:
    run, choice = run_of(results)
    return list(summary_lines(run, choice, width, 1))


@pytest.mark.parametrize("name", RUNS)
def test_the_reports_of_a_run_equal_the_golden_files(name: str, fixtures_dir: Path) -> None:
    results = RUNS[name](museum(fixtures_dir))
    Draft202012Validator(schema()).validate(results)
    run, choice = run_of(results)
    folder = fixtures_dir / "reports"
    check(folder / f"{name}.txt", "".join(f"{paint(line, 0, None)}\n" for line in lines_of(results)))
    text = markdown_of(run, choice)
    check(folder / f"{name}.md", text)
    account = decode_results(results_of(run, "r", run.started, choice))["account"]
    assert text.partition("\n")[0].partition("tests: ")[2] == account["verdict"]


def test_coloured_output_equals_the_golden_files_and_every_mark_covers_text(fixtures_dir: Path) -> None:
    lines = lines_of(museum(fixtures_dir))
    for colours in (16, 256):
        text = "".join(f"{paint(line, colours, None)}\n" for line in lines)
        check(fixtures_dir / "reports" / f"two-systems-{colours}.txt", text)
    assert any(line.marks for line in lines)
    for line in lines:
        assert all(line.text[mark.start : mark.end].strip("?–") for mark in line.marks)


def test_the_report_does_not_depend_on_the_order_of_workers(fixtures_dir: Path) -> None:
    results = museum(fixtures_dir)
    run, choice = run_of(results)
    planned_cases = dict(run.plan.cases)
    random.Random(1).shuffle(results["outcomes"])
    shuffled, _ = run_of(results)
    shuffled.plan.cases = planned_cases
    shuffled.evaluate_gates()
    assert list(summary_lines(shuffled, choice, 80, 1)) == list(summary_lines(run, choice, 80, 1))
    assert markdown_of(shuffled, choice) == markdown_of(run, choice)


@pytest.mark.parametrize("width", [40, 80, 100])
@pytest.mark.parametrize("name", RUNS)
def test_lines_fit_the_terminal(name: str, width: int, fixtures_dir: Path) -> None:
    """Only the commands at the end may be wider: a wrapped command cannot be copied."""
    lines = [line.text for line in lines_of(RUNS[name](museum(fixtures_dir)), width)]
    end = lines.index("see it:") if "see it:" in lines else len(lines)
    assert all(line.startswith(("  pytest ", "  rageval show ")) for line in lines[end + 1 :])
    assert [line for line in lines[:end] if wcswidth(line) > width] == []
    assert all(line.isprintable() for line in lines)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "cp437", "gbk", "utf-8"])
@pytest.mark.parametrize("colours", [0, 16, 256])
def test_the_summary_can_be_encoded_in_any_code_page(encoding: str, colours: int, fixtures_dir: Path) -> None:
    for line in lines_of(museum(fixtures_dir)):
        paint(line, colours, encoding).encode(encoding)
