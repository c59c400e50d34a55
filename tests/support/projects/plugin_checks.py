"""What each row of the table shows beyond the same scores and gates."""

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
    Ran,
    Suite,
)
from support.projects.rag_project import cases

SLOW = """
    import time
    import pytest

    @pytest.fixture(scope="session")
    def rag_system():
        return lambda query: time.sleep(30) if query.question == "wait" else "Paris"
"""


def nothing_more(suite: Suite, ran: Ran) -> None:
    """The scores, the gates and the tests of the row's own files are the point."""


def passes(*nodeids: str) -> Any:
    """Return a check that tests of the row's own files passed."""

    def check(suite: Suite, ran: Ran) -> None:
        assert {nodeid: ran.ends.get(nodeid) for nodeid in nodeids} == dict.fromkeys(nodeids, "passed")

    return check


def coverage_is_measured(suite: Suite, ran: Ran) -> None:
    measured = json.loads((suite.path / "coverage.json").read_text(encoding="utf-8"))
    assert measured["files"]["system.py"]["missing_lines"] == []


def the_slow_case_alone_ends(suite: Suite, ran: Ran) -> None:
    suite.project.data(cases("ask", "wait", "ask", "ask"))
    suite.project.file("conftest.py", SLOW)
    slow = suite.run("-p", "pytest_timeout", "--timeout", "0.5", "test_it.py")
    assert [nodeid for nodeid, end in slow.ends.items() if end == "error"] == [MISSED_CASE, FAILED_CASE]
    assert "Timeout" in slow.run.outcomes["q2"]["error"]
    assert sum(status == "scored" for status, _, _ in slow.scores.values()) == 6


def the_order_is_another(suite: Suite, ran: Ran) -> None:
    assert ran.order != suite.alone.order
    assert sorted(ran.order) == sorted(suite.alone.order)


def errors_are_rerun_and_gates_are_not(suite: Suite, ran: Ran) -> None:
    rerun = {nodeid: ran.times(nodeid, "rerun") for nodeid in ran.ends}
    assert {nodeid: times for nodeid, times in rerun.items() if times} == dict.fromkeys((*ERRORS, FAILED_CASE), 2)
    assert ran.times(FAILED_GATE, "failed") == 1


def every_case_runs_twice(suite: Suite, ran: Ran) -> None:
    for nodeid, (status, error, scores) in suite.alone.scores.items():
        for turn in ("-1-2]", "-2-2]"):
            assert ran.scores[nodeid.replace("]", turn)] == (status, error, scores)
    assert len(ran.scores) == 2 * len(suite.alone.scores)
    assert ran.gates == suite.alone.gates
    assert ran.status == 1


def the_page_has_cases_and_gates(suite: Suite, ran: Ran) -> None:
    page = (suite.path / "page.html").read_text(encoding="utf-8")
    blob = re.search(r'data-jsonblob="([^"]*)"', page)
    assert blob is not None
    rows = {
        nodeid: found[-1]["result"].lower() for nodeid, found in json.loads(html.unescape(blob[1]))["tests"].items()
    }
    assert rows == suite.alone.ends


def allure_has_cases_and_gates(suite: Suite, ran: Ran) -> None:
    folder = suite.path / "allure"
    tests = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*-result.json")]
    statuses = {(test["titlePath"][-1], test["name"]): test["status"] for test in tests}
    assert statuses == {
        (nodeid.partition("::")[0], nodeid.rpartition("::")[2]): {"error": "failed"}.get(end, end)
        for nodeid, end in suite.alone.ends.items()
    }
    assert sum(path.stat().st_size for path in folder.iterdir()) < 10_000 * len(tests)


def json_report_lists_cases_and_gates(suite: Suite, ran: Ran) -> None:
    report = json.loads((suite.path / "report.json").read_text(encoding="utf-8"))
    outcomes = {test["nodeid"]: test["outcome"] for test in report["tests"]}
    missed = {nodeid for nodeid, outcome in outcomes.items() if outcome == "missed"}
    assert missed == {MISSED_CASE, "more.rag.toml::suite[q2]"}
    assert {**outcomes, **dict.fromkeys(missed, "passed")} == suite.alone.ends


def the_groups_cover_all_cases(suite: Suite, ran: Ran) -> None:
    other = suite.run("-p", "pytest_split.plugin", "--splits", "2", "--group", "2")
    assert not ran.scores.keys() & other.scores.keys()
    assert {**ran.scores, **other.scores} == suite.alone.scores


def failures_are_printed_at_once(suite: Suite, ran: Ran) -> None:
    text = ran.run.text
    summary = text.index("= rag =")
    for shown in ("ERROR at setup of suite[q4]", "check accuracy >= 1 failed", "0.67 < 0.90 (n 3)"):
        assert text.index(shown) < summary
    ran.run.said("more.rag.toml .m.E", "test_it.py .m.E")


def sugar_counts_and_names(suite: Suite, ran: Ran) -> None:
    said = re.sub(r"\x1b\[[0-9;]*m", "", ran.run.text)
    assert "13 passed" in said
    assert "2 failed" in said
    assert "3 error" in said
    assert "test_capital[gate: accuracy >= 0.9]" in said
    assert max(int(percent) for percent in re.findall(r"(\d+)%", said)) == 100


def soft_failures_fail_their_case(suite: Suite, ran: Ran) -> None:
    ends = {nodeid.partition("::")[2]: end for nodeid, end in ran.ends.items() if nodeid.startswith("test_soft.py")}
    gate = "test_soft[gate: accuracy >= 0.6]"
    assert ends == {"test_soft[q1]": "passed", "test_soft[q2]": "failed", "test_soft[q3]": "passed", gate: "passed"}


def snapshots_hold_answers(suite: Suite, ran: Ran) -> None:
    assert "'Rome'" in (suite.path / "__snapshots__" / "test_snapshot.ambr").read_text()
    suite.project.data(cases("say Paris", "say Oslo", "say Paris", "raise no model"))
    changed = suite.run("-p", "syrupy", "test_snapshot.py")
    failed = [nodeid for nodeid, end in changed.ends.items() if end == "failed"]
    assert failed == ["test_snapshot.py::test_snapshot[q2]"]


def a_system_is_measured(suite: Suite, ran: Ran) -> None:
    assert ran.ends["test_speed.py::test_speed"] == "passed"
    ran.run.said("test_speed *")


def every_worker_runs_all(suite: Suite, ran: Ran) -> None:
    assert ran.times("test_it.py::test_capital[q1]", "passed") == 2 * 3
    assert ran.times(FAILED_GATE, "failed") == 1


def it_stops_and_goes_on_there(suite: Suite, ran: Ran) -> None:
    assert list(ran.scores) == [f"more.rag.toml::suite[q{number}]" for number in (1, 2, 3, 4)]
    assert ran.gates[FAILED_GATE] == ran.gates[PASSED_GATE] == "skipped"
    again = suite.run("--stepwise")
    assert again.order[0] == ERRORS[0]


def the_failed_run_alone(suite: Suite, ran: Ran) -> None:
    again = suite.run("--lf")
    capital = [f"test_it.py::test_capital[q{number}]" for number in (1, 2, 3, 4)]
    assert sorted(again.scores) == sorted({*ERRORS, *capital, FAILED_CASE})
    assert again.gates[FAILED_GATE] == "failed"
    assert again.gates[PASSED_GATE] == "passed"
    assert again.status == 1


def the_failed_run_first(suite: Suite, ran: Ran) -> None:
    again = suite.run("--ff")
    suite.expect_alike(again)
    assert again.order[0] == ERRORS[0]
    assert again.order.index("more.rag.toml::suite[q1]") > again.order.index(FAILED_CASE)


def new_files_run_first(suite: Suite, ran: Ran) -> None:
    suite.project.file("test_new.py", "def test_new(): ...")
    again = suite.run("--nf")
    suite.expect_alike(again)
    assert again.order[0] == "test_new.py::test_new"


def it_stops_at_each_failure(suite: Suite, ran: Ran) -> None:
    assert ran.run.text.count("entering PDB") == len(ERRORS) + 1


def nothing_is_asked(suite: Suite, ran: Ran) -> None:
    assert ran.status == 0
    assert set(ran.ends.values()) == {"passed"}
    assert ran.run.results is None
    assert "= rag =" not in ran.run.text
    ran.run.said("*SETUP    F rag*q1*", "*test_it.py::test_capital*q4* (fixtures used: rag*)")
    assert suite.run("--fixtures-per-test").run.results is None
