"""Gates as tests: terminal, JUnit, results.json and exit status agree."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from support.projects.rag_project import RAISES, RIGHT, RUNS, WRONG, Mode, Project, case, cases

LOOSE = "accuracy >= 0.5"
STRICT = "accuracy >= 99%"


def _junit(path: Path) -> dict[str, str]:
    """Return name -> status of each test case in a JUnit file; check its counts."""
    suite = ET.parse(path).getroot().find("testsuite")  # noqa: S314 - written by the run itself
    assert suite is not None
    statuses = {}
    for test in suite.iter("testcase"):
        name = f"{test.get('classname')}::{test.get('name')}"
        assert name not in statuses
        statuses[name] = next((child.tag for child in test if child.tag in ("failure", "error", "skipped")), "passed")
    for tag, key in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        assert suite.get(key) == str(list(statuses.values()).count(tag))
    assert suite.get("tests") == str(len(statuses))
    return statuses


def test_a_gate_is_one_more_test_everywhere(project: Project, mode: Mode) -> None:
    project.says(cases(RIGHT, WRONG, RAISES), f"gates=[{LOOSE!r}, {STRICT!r}]")
    run = project.run("-v", "--junitxml=junit.xml", *mode)
    assert run.status == 1
    run.said(f"test_it.py::test_it?gate: {LOOSE}? PASSED*", f"test_it.py::test_it?gate: {STRICT}? FAILED*")
    run.said("*1 failed, 2 passed, 1 error, 1 missed*")
    assert _junit(project.path / "junit.xml") == {
        "test_it::test_it[q1]": "passed",
        "test_it::test_it[q2]": "passed",
        "test_it::test_it[q3]": "error",
        f"test_it::test_it[gate: {LOOSE}]": "passed",
        f"test_it::test_it[gate: {STRICT}]": "failure",
    }
    assert {name: gate["status"] for name, gate in run.gates.items()} == {LOOSE: "passed", STRICT: "failed"}
    assert run.gates[STRICT]["nodeid"] == f"test_it.py::test_it[gate: {STRICT}]"
    assert run.gates[STRICT]["scope"] == "test_it"
    assert (run.gates[LOOSE]["value"], run.gates[LOOSE]["n"], run.gates[LOOSE]["n_errors"]) == (0.5, 2, 1)


def test_the_session_is_green_when_all_gates_hold(project: Project) -> None:
    project.says(cases(RIGHT, WRONG), f"gates=[{LOOSE!r}]")
    assert project.run().status == 0


def test_a_failed_gate_prints_errors_interval_and_worst_cases(project: Project) -> None:
    rows = cases(*[WRONG] * 7, *[RIGHT] * 2, RAISES)
    project.says(rows, f"gates=[{STRICT!r}]")
    run = project.run()
    message = run.text[run.text.index("0.22 < 0.99 (n 9)") :].partition("=====")[0]
    for fact in ("1 error ", "[0.06, 0.55]"):  # 2 of 9, and Wilson's interval
        assert fact in message
    assert message.count("test_it.py::test_it[q") == 5
    worst = run.gates[STRICT]["worst"]
    assert [entry["value"] for entry in worst] == [0.0] * 5
    assert run.gates[STRICT]["ci95"] == [pytest.approx(0.0632, abs=1e-3), pytest.approx(0.5474, abs=1e-3)]


SLICES = [
    "accuracy[topic=Funds] >= 1",
    "accuracy[topic=Funds, level=hard] >= 1",
    "accuracy[topic=*] >= 0.5",
    'accuracy[topic="Bonds, long"] >= 0.5',
    "accuracy[level=easy] >= 1",
    "n[topic=Funds] >= 3",
]


def test_a_gate_over_a_slice_covers_the_slice(project: Project) -> None:
    rows = [
        case("a", RIGHT, topic="Funds", level="easy"),
        case("b", RIGHT, topic="Funds", level="hard"),
        case("c", WRONG, topic="Bonds, long", level="hard"),
    ]
    project.says(rows, f"gates={SLICES!r}")
    run = project.run("-v")
    gates = run.gates
    assert [gates[text]["status"] for text in SLICES] == ["passed", "passed", "failed", "failed", "passed", "failed"]
    assert [gates[text]["n"] for text in SLICES] == [2, 1, 1, 1, 1, 2]
    assert gates[SLICES[2]]["slice"] == {"topic": "Bonds, long"}
    assert [cell["value"] for cell in gates[SLICES[2]]["cells"]] == [0.0, 1.0]
    run.said("*test_it.py::test_it?gate: accuracy?topic=?? >= 0.5? FAILED*", "*worst*topic=Bonds, long*")


def test_gates_on_latency_tokens_cost_and_counts(project: Project) -> None:
    conftest = """
        import pytest
        from pytest_rageval import Answer, Usage

        def answer(query):
            number = int(query.question)
            return Answer("Paris", usage=Usage(10 * number, number, number / 4, float(number)))

        @pytest.fixture(scope="session")
        def rag_system():
            return answer
    """
    gates = [
        "latency_p50 <= 2", "latency_p95 <= 2", "tokens <= 66", "tokens < 66", "cost_usd <= 1.5", "cost_usd <= 1",
        "n >= 3", "n > 3", "error_rate <= 0%",
    ]  # fmt: skip
    project.says(cases("1", "2", "3"), f"gates={gates!r}", conftest=conftest)
    run = project.run()
    values = {text: (gate["status"], gate["value"]) for text, gate in run.gates.items()}
    assert values == {
        "latency_p50 <= 2": ("passed", 2.0),
        "latency_p95 <= 2": ("failed", pytest.approx(2.9)),
        "tokens <= 66": ("passed", 66),
        "tokens < 66": ("failed", 66),
        "cost_usd <= 1.5": ("passed", 1.5),
        "cost_usd <= 1": ("failed", 1.5),
        "n >= 3": ("passed", 3),
        "n > 3": ("failed", 3),
        "error_rate <= 0%": ("passed", 0.0),
    }
    assert run.gates["cost_usd <= 1"]["worst"][0] == {
        "nodeid": "test_it.py::test_it[q3]",
        "value": 0.75,
    }


@pytest.mark.parametrize("gate", ["cost_usd <= 1", "tokens <= 1000"])
def test_a_gate_on_an_unknown_cost_fails(project: Project, gate: str) -> None:
    project.says(cases(RIGHT, RIGHT), f"gates=[{gate!r}]")
    run = project.run()
    assert run.status == 1
    assert (run.gates[gate]["status"], run.gates[gate]["value"]) == ("failed", None)
    run.said(f"*{gate.split()[0]} is unknown*2 of 2 answers*")


def test_a_gate_whose_cases_were_all_deselected_is_skipped(project: Project, mode: Mode) -> None:
    rows = [case("fund1", RIGHT, topic="Funds"), case("bond1", WRONG, topic="Bonds")]
    gate = "accuracy[topic=Bonds] >= 1"
    project.says(rows, f"gates=[{gate!r}]")
    run = project.run("-rs", "-k", "fund1", *mode)
    assert run.status == 0
    assert (run.gates[gate]["status"], run.gates[gate]["reason"]) == ("skipped", "all its cases were deselected")
    run.said("*SKIPPED*all its cases were deselected*", "*1 passed, 1 skipped*")


def test_a_session_without_a_test_has_the_status_of_pytest(project: Project, mode: Mode) -> None:
    project.says(cases(RIGHT, WRONG), f"gates=[{LOOSE!r}]")
    run = project.run("-k", "nothing", *mode)
    assert run.status == pytest.ExitCode.NO_TESTS_COLLECTED
    assert [gate["status"] for gate in run.results["gates"]] == ["skipped"]


@pytest.mark.parametrize("gate", [LOOSE, "accuracy <= 1", "latency_p50 <= 9"])
def test_a_gate_with_nothing_scored_fails(project: Project, gate: str) -> None:
    project.says(cases(RAISES, RAISES), f"gates=[{gate!r}]")
    run = project.run()
    assert run.gates[gate]["status"] == "failed"
    assert run.gates[gate]["reason"].startswith("nothing was scored: 2 cases, 2 errors")


def test_a_metric_that_never_applies_fails_its_gate_with_the_reason(project: Project) -> None:
    project.says(cases(RIGHT), "gates=['over_rejection_rate <= 1']")
    run = project.run()
    assert run.status == 1
    assert "not_applicable" in run.gates["over_rejection_rate <= 1"]["reason"]


TWO = RUNS.replace("{arguments}", "") + RUNS.replace("test_it", "test_f1").replace('"accuracy"', '"token_f1"').replace(
    "{arguments}", ""
)


def test_a_session_gate_covers_the_testbeds_that_compute_its_metric(project: Project) -> None:
    project.says(cases(RIGHT, WRONG), test=TWO)
    project.file("pytest.ini", "[pytest]\nrag_gates =\n    token_f1 >= 0.5\n    n >= 4\n")
    run = project.run("-v", "--rag-gate", "accuracy > 0.5", "--rag-gate", "error_rate <= 0")
    assert {text: (gate["status"], gate["n"], gate["scope"]) for text, gate in run.gates.items()} == {
        "token_f1 >= 0.5": ("passed", 2, "session"),
        "n >= 4": ("passed", 4, "session"),
        "accuracy > 0.5": ("failed", 2, "session"),
        "error_rate <= 0": ("passed", 4, "session"),
    }
    assert run.status == 1
    run.said("*session*accuracy > 0.5*FAILED*", "*session*n >= 4*PASSED*")


def test_all_testbeds_compute_the_metric_of_a_session_gate_if_none_asks_for_it(project: Project) -> None:
    project.says(cases(RIGHT, WRONG), test=TWO)
    run = project.run("--rag-gate", "exact_match >= 0.5")
    assert run.status == 0
    assert run.gates["exact_match >= 0.5"]["n"] == 4


def test_a_testbed_without_gate_or_assertion_is_reported_once(project: Project) -> None:
    project.says(cases(WRONG, WRONG))
    run = project.run()
    assert run.status == 0
    assert run.text.count("no gate and no assertion decides") == 1
    assert "no gate and no assertion" not in project.run("--rag-gate", "n >= 1").text


def test_collecting_alone_lists_the_gates_and_runs_none(project: Project) -> None:
    project.says(cases(RIGHT, WRONG), f"gates=[{LOOSE!r}]")
    run = project.run("--collect-only", "-q")
    assert run.status == 0
    assert run.results is None
    assert run.result.outlines[:3] == [f"test_it.py::test_it[{name}]" for name in ("q1", "q2", f"gate: {LOOSE}")]
    run.said("3 tests collected*")
    assert not (project.path / ".rageval").exists()
