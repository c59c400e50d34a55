"""The terminal summary at each verbosity."""

from __future__ import annotations

import re
from datetime import datetime, timezone

from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.codec import encode_outcome
from pytest_rageval.model.outcome import Outcome, Score
from pytest_rageval.report.run.plan import Plan, TestbedPlan
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.summary_data import MatrixChoice
from pytest_rageval.report.sections.gates import gate_failure
from pytest_rageval.report.terminal.summary import summary_lines

TESTBED = "t.py::test_noise"


def run_of(values: list[float | None], gates: tuple[str, ...] = ("accuracy >= 0.5",), **plan: object) -> Run:
    run = Run(datetime(2024, 1, 1, tzinfo=timezone.utc))
    run.plan = Plan(metrics={"accuracy": MetricInfo(binary=True)})
    run.plan.testbeds[TESTBED] = TestbedPlan(TESTBED, "test_noise", ("accuracy",), gates, len(values), **plan)  # type: ignore[arg-type]
    for number, value in enumerate(values):
        nodeid = f"{TESTBED}[q{number}]"
        facets = {"topic": "Funds", "task": "qa", "noise_rate": "0" if number % 2 else "0.8"}
        scores = {} if value is None else {"accuracy": Score(value)}
        error = "it broke" if value is None else None
        status = "scored" if error is None else "error"
        outcome = Outcome(nodeid, f"q{number}", TESTBED, facets, "desk", status, Answer("x"), scores, (), error)  # type: ignore[arg-type]
        run.take(encode_outcome(outcome), None)
        run.plan.cases[nodeid] = (f"q{number}", TESTBED, "desk", 0)
    run.evaluate_gates()
    return run


def text_of(run: Run, verbosity: int = 1, width: int = 80) -> str:
    return "\n".join(line.text for line in summary_lines(run, MatrixChoice(), width, verbosity))


def test_the_summary_counts_and_shows_matrix_curve_and_gates() -> None:
    text = text_of(run_of([1.0, 1.0, 0.0, None]))
    assert "4 cases: 3 scored, 1 error · system desk" in text
    assert "accuracy by topic x task" in text
    assert "accuracy over noise rates" in text
    assert "PASSED  accuracy >= 0.5" in text
    assert "1 error" in text.partition("gates")[2]


def test_a_passed_run_takes_one_line_without_v() -> None:
    (line,) = text_of(run_of([1.0, 1.0]), verbosity=0).splitlines()
    assert line.startswith("rag: the gate holds ")


def test_q_shows_the_verdict_the_first_cause_and_failed_gates() -> None:
    verdict, _, cause, head, gate, see = text_of(run_of([0.0, 0.0]), verbosity=-1).splitlines()
    assert verdict == "rag: 1 of 1 gate failed - 2 cases missed, 1 cause"
    assert cause == "  1 unknown: accuracy 0.00 < 0.50 (2 of 2 missed)"
    assert see.startswith("see it: rageval show --case q0")
    assert head.split() == ["gates", "now", "n", "95", "%"]
    assert gate.startswith("  FAILED  accuracy >= 0.5 ")


def test_qq_shows_only_the_verdict_of_a_run_that_did_not_pass() -> None:
    assert text_of(run_of([1.0, 1.0]), verbosity=-2) == ""
    text = text_of(run_of([0.0, 0.0]), verbosity=-2)
    assert text.startswith("rag: 1 of 1 gate failed - ")
    assert "topic" not in text
    assert "FAILED" not in text


def test_gates_are_coloured_by_status() -> None:
    lines = list(summary_lines(run_of([0.0], ("accuracy >= 0.5", "n >= 1")), MatrixChoice(), 80, 1))
    styles = {line.text.split()[1]: line.style for line in lines if line.style and line.text.startswith("    ")}
    assert styles == {"accuracy": "red", "n": "green"}


def test_the_warning_about_a_testbed_without_gate_appears_once() -> None:
    text = text_of(run_of([1.0], gates=()))
    assert text.count("no gate and no assertion decides") == 1
    assert "no gate and no assertion" not in text_of(run_of([1.0], gates=(), asserts=True))


def test_control_characters_in_notes_are_escaped() -> None:
    run = run_of([1.0], notes=("a\x1b[2Jb",))
    assert "\x1b" not in text_of(run)
    assert "a\\x1b[2Jb" in text_of(run)


def test_a_failed_gate_shows_its_value_n_errors_interval_bound_and_worst_cases() -> None:
    run = run_of([0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, None])
    text = gate_failure(run.gates[0].result)
    assert text.startswith("0.14 < 0.50 (n 7)\n")
    assert "1 error" in text
    assert "95 % [0.0" in text
    assert text.count("t.py::test_noise[q") == 5
    assert "[q2]" not in text


def test_a_gate_over_cells_names_the_worst_cell() -> None:
    run = run_of([0.0, 1.0, 0.0, 1.0], gates=("accuracy[noise_rate=*] >= 0.5",))
    text = gate_failure(run.gates[0].result)
    assert text.startswith("0.00 < 0.50 (n 2) at noise_rate=0.8\n")
    assert "fails in 1 of 2 cells" in text
    assert "worst at noise_rate=0.8" in text_of(run)


def test_a_gate_on_a_baseline_shows_changes_and_causes() -> None:
    gates = ("accuracy[noise_rate=*] >= baseline",)
    run, before = run_of([*[1.0] * 4, *[0.0] * 16], gates), run_of([*[1.0] * 20], gates)
    run.baseline = before.snapshot()
    run.evaluate_gates()
    [_, worst_cell, change, p_value, smallest_drop, causes] = text_of(run).partition("\ngates\n")[2].splitlines()[1:7]
    assert worst_cell == "            worst at noise_rate=0"
    assert re.fullmatch(r" {12}was 1, -0\.8 \[.*\]", change)
    assert re.fullmatch(r" {12}one-sided p 0\.007\d over 10 cases, corrected over 2 comparisons", p_value)
    assert re.fullmatch(r" {12}smallest detectable drop 0\.\d+", smallest_drop)
    assert causes == "            broke: unknown 8"
    before.baseline = run_of([*[1.0] * 20], gates).snapshot()
    before.evaluate_gates()
    assert "            as in the baseline over 10 cases" in text_of(before)
    two_cases = run_of([1.0] * 2, gates)
    two_cases.baseline = two_cases.snapshot()
    two_cases.evaluate_gates()
    assert "            as in the baseline over 1 case  no detectable drop" in text_of(two_cases)
