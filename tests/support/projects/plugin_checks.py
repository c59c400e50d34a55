"""Checks of single rows of the plugin table, in addition to equal scores and gates."""

from __future__ import annotations

import html
import json
import re
from typing import Any

from support.projects.compatibility_project import (
    ERRORS,
    FAILED_CASE,
    FAILED_GATE,
    MISSED_CASE,
    PASSED_GATE,
    Suite,
    SuiteRun,
)
from support.projects.rag_project import cases

SLOW = """
    import time
    import pytest

    @pytest.fixture(scope="session")
    def rag_system():
        return lambda query: time.sleep(30) if query.question == "wait" else "Paris"
"""


def nothing_more(suite: Suite, result: SuiteRun) -> None:
    """Check nothing: equal scores and gates are enough."""


def passes(*nodeids: str) -> Any:
    """Return a check that tests of the row's own files passed."""

    def check(suite: Suite, result: SuiteRun) -> None:
        assert {nodeid: result.ends.get(nodeid) for nodeid in nodeids} == dict.fromkeys(nodeids, "passed")

    return check


def coverage_is_measured(suite: Suite, result: SuiteRun) -> None:
    measured = json.loads((suite.path / "coverage.json").read_text(encoding="utf-8"))
    assert measured["files"]["system.py"]["missing_lines"] == []


def the_slow_case_alone_ends(suite: Suite, result: SuiteRun) -> None:
    suite.project.data(cases("ask", "wait", "ask", "ask"))
    suite.project.file("conftest.py", SLOW)
    slow = suite.run("-p", "pytest_timeout", "--timeout", "0.5", "test_it.py")
    assert [nodeid for nodeid, end in slow.ends.items() if end == "error"] == [MISSED_CASE, FAILED_CASE]
    assert "Timeout" in slow.run.outcomes["q2"]["error"]
    assert sum(status == "scored" for status, _, _ in slow.scores.values()) == 6


def the_order_differs(suite: Suite, result: SuiteRun) -> None:
    assert result.order != suite.alone.order
    assert sorted(result.order) == sorted(suite.alone.order)


def errors_are_rerun_and_gates_are_not(suite: Suite, result: SuiteRun) -> None:
    rerun = {nodeid: result.times(nodeid, "rerun") for nodeid in result.ends}
    assert {nodeid: times for nodeid, times in rerun.items() if times} == dict.fromkeys((*ERRORS, FAILED_CASE), 2)
    assert result.times(FAILED_GATE, "failed") == 1


def every_case_runs_twice(suite: Suite, result: SuiteRun) -> None:
    for nodeid, (status, error, scores) in suite.alone.scores.items():
        for turn in ("-1-2]", "-2-2]"):
            assert result.scores[nodeid.replace("]", turn)] == (status, error, scores)
    assert len(result.scores) == 2 * len(suite.alone.scores)
    assert result.gates == suite.alone.gates
    assert result.status == 1


def the_page_has_cases_and_gates(suite: Suite, result: SuiteRun) -> None:
    page = (suite.path / "page.html").read_text(encoding="utf-8")
    blob = re.search(r'data-jsonblob="([^"]*)"', page)
    assert blob is not None
    rows = {
        nodeid: reports[-1]["result"].lower() for nodeid, reports in json.loads(html.unescape(blob[1]))["tests"].items()
    }
    assert rows == suite.alone.ends


def allure_has_cases_and_gates(suite: Suite, result: SuiteRun) -> None:
    folder = suite.path / "allure"
    tests = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*-result.json")]
    statuses = {(test["titlePath"][-1], test["name"]): test["status"] for test in tests}
    assert statuses == {
        (nodeid.partition("::")[0], nodeid.rpartition("::")[2]): {"error": "failed"}.get(end, end)
        for nodeid, end in suite.alone.ends.items()
    }
    assert sum(path.stat().st_size for path in folder.iterdir()) < 10_000 * len(tests)


def json_report_lists_cases_and_gates(suite: Suite, result: SuiteRun) -> None:
    report = json.loads((suite.path / "report.json").read_text(encoding="utf-8"))
    outcomes = {test["nodeid"]: test["outcome"] for test in report["tests"]}
    missed = {nodeid for nodeid, outcome in outcomes.items() if outcome == "missed"}
    assert missed == {MISSED_CASE, "more.rag.toml::suite[q2]"}
    assert {**outcomes, **dict.fromkeys(missed, "passed")} == suite.alone.ends


def the_groups_cover_all_cases(suite: Suite, result: SuiteRun) -> None:
    other = suite.run("-p", "pytest_split.plugin", "--splits", "2", "--group", "2")
    assert not result.scores.keys() & other.scores.keys()
    assert {**result.scores, **other.scores} == suite.alone.scores


def failures_are_printed_at_once(suite: Suite, result: SuiteRun) -> None:
    text = result.run.text
    summary = text.index("= rag =")
    for message in ("ERROR at setup of suite[q4]", "check accuracy >= 1 failed", "0.67 < 0.90 (n 3)"):
        assert text.index(message) < summary
    result.run.said("more.rag.toml .m.E", "test_it.py .m.E")


def sugar_counts_and_names(suite: Suite, result: SuiteRun) -> None:
    plain_text = re.sub(r"\x1b\[[0-9;]*m", "", result.run.text)
    assert "13 passed" in plain_text
    assert "2 failed" in plain_text
    assert "3 error" in plain_text
    assert "test_capital[gate: accuracy >= 0.9]" in plain_text
    assert max(int(percent) for percent in re.findall(r"(\d+)%", plain_text)) == 100


def soft_failures_fail_their_case(suite: Suite, result: SuiteRun) -> None:
    ends = {nodeid.partition("::")[2]: end for nodeid, end in result.ends.items() if nodeid.startswith("test_soft.py")}
    gate = "test_soft[gate: accuracy >= 0.6]"
    assert ends == {"test_soft[q1]": "passed", "test_soft[q2]": "failed", "test_soft[q3]": "passed", gate: "passed"}


def snapshots_hold_answers(suite: Suite, result: SuiteRun) -> None:
    assert "'Rome'" in (suite.path / "__snapshots__" / "test_snapshot.ambr").read_text()
    suite.project.data(cases("say Paris", "say Oslo", "say Paris", "raise no model"))
    changed = suite.run("-p", "syrupy", "test_snapshot.py")
    failed = [nodeid for nodeid, end in changed.ends.items() if end == "failed"]
    assert failed == ["test_snapshot.py::test_snapshot[q2]"]


def a_system_is_measured(suite: Suite, result: SuiteRun) -> None:
    assert result.ends["test_speed.py::test_speed"] == "passed"
    result.run.said("test_speed *")


def every_worker_runs_all(suite: Suite, result: SuiteRun) -> None:
    assert result.times("test_it.py::test_capital[q1]", "passed") == 2 * 3
    assert result.times(FAILED_GATE, "failed") == 1


def it_stops_and_resumes_there(suite: Suite, result: SuiteRun) -> None:
    assert list(result.scores) == [f"more.rag.toml::suite[q{number}]" for number in (1, 2, 3, 4)]
    assert result.gates[FAILED_GATE] == result.gates[PASSED_GATE] == "skipped"
    again = suite.run("--stepwise")
    assert again.order[0] == ERRORS[0]


def the_failed_run_alone(suite: Suite, result: SuiteRun) -> None:
    again = suite.run("--lf")
    capital = [f"test_it.py::test_capital[q{number}]" for number in (1, 2, 3, 4)]
    assert sorted(again.scores) == sorted({*ERRORS, *capital, FAILED_CASE})
    assert again.gates[FAILED_GATE] == "failed"
    assert again.gates[PASSED_GATE] == "passed"
    assert again.status == 1


def the_failed_run_first(suite: Suite, result: SuiteRun) -> None:
    again = suite.run("--ff")
    suite.expect_alike(again)
    assert again.order[0] == ERRORS[0]
    assert again.order.index("more.rag.toml::suite[q1]") > again.order.index(FAILED_CASE)


def new_files_run_first(suite: Suite, result: SuiteRun) -> None:
    suite.project.file("test_new.py", "def test_new(): ...")
    again = suite.run("--nf")
    suite.expect_alike(again)
    assert again.order[0] == "test_new.py::test_new"


def it_stops_at_each_failure(suite: Suite, result: SuiteRun) -> None:
    assert result.run.text.count("entering PDB") == len(ERRORS) + 1


def nothing_is_asked(suite: Suite, result: SuiteRun) -> None:
    assert result.status == 0
    assert set(result.ends.values()) == {"passed"}
    assert result.run.results is None
    assert "= rag =" not in result.run.text
    result.run.said("*SETUP    F rag*q1*", "*test_it.py::test_capital*q4* (fixtures used: rag*)")
    assert suite.run("--fixtures-per-test").run.results is None
