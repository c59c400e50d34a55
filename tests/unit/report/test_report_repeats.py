"""Repeats and the gain from retrieval in the summary and in results.json."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
from support.samples.run_samples import FINISHED, STARTED
from wcwidth import wcswidth

from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.model.codec import encode_outcome
from pytest_rageval.model.outcome import Outcome, Score
from pytest_rageval.report.files.results_json import results_of, schema
from pytest_rageval.report.run.json_text import decode_results, to_json
from pytest_rageval.report.run.plan import Plan, TestbedPlan
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.summary_data import MatrixChoice
from pytest_rageval.report.sections.gates import gate_failure
from pytest_rageval.report.terminal.summary import summary_lines

TESTBED = "t.py::test_a"
RUNS = {"good": [1.0, 1.0, 1.0], "flaky": [1.0, 0.0, 1.0], "bad": [0.0, 0.0, 0.0]}


def run_of(cases: dict[str, list[float]], *gates: str, system: str = "mine", **closed_book: float) -> Run:
    info = MetricInfo(binary=True)
    metrics = ("accuracy", "closed_book_accuracy") if closed_book else ("accuracy",)
    testbed = TestbedPlan(TESTBED, "test_a", metrics, gates or ("accuracy >= 0.1",))
    run = Run(STARTED, Plan({TESTBED: testbed}, metrics={"accuracy": info, "closed_book_accuracy": info}))
    for name, values in cases.items():
        for number, value in enumerate(values, 1):
            facets = {"topic": "A", "task": "qa"} | ({"repeat": str(number)} if len(values) > 1 else {})
            scores = {"accuracy": Score(value)}
            if closed_book:
                closed_value = closed_book.get(name)
                scores["closed_book_accuracy"] = (
                    Score(reason="parse_error") if closed_value is None else Score(closed_value)
                )
            nodeid = f"{TESTBED}[{name}-{number}]"
            run.take(encode_outcome(Outcome(nodeid, name, TESTBED, facets, system, "scored", scores=scores)), None)
            run.plan.cases[nodeid] = (name, TESTBED, system, 0)
    run.evaluate_gates()
    return run


def text_of(run: Run, width: int = 100, verbosity: int = 1) -> str:
    return "\n".join(line.text for line in summary_lines(run, MatrixChoice(), width, verbosity))


def results(run: Run) -> dict[str, Any]:
    content = decode_results(results_of(run, "r", FINISHED, MatrixChoice()))
    jsonschema.Draft202012Validator(schema(), format_checker=jsonschema.FormatChecker()).validate(content)
    return content


def test_the_summary_has_a_section_about_repeats() -> None:
    text = text_of(run_of(RUNS))
    assert "9 runs of 3 cases: 9 scored, 0 errors" in text
    section = text.partition("repeats - ")[2]
    head, _, row, flips = section.splitlines()[2:6]
    assert head.split() == ["testbed", "metric", "cases", "x", "k", "mean", "spread", "pass@1", "pass^k", "flip",
                            "never"]  # fmt: skip
    assert row.split() == ["test_a", "accuracy", "3", "x", "3", "0.56", "±0.192", "0.56", "0.33", "1", "1"]
    assert flips == "test_a flips: flaky"


def test_a_narrow_terminal_gets_the_same_section_in_blocks() -> None:
    lines = text_of(run_of(RUNS), width=40).splitlines()
    section = lines[next(at for at, line in enumerate(lines) if line.startswith("repeats")) + 1 :]
    section = section[: section.index("gates")]
    assert all(wcswidth(line) <= 40 for line in section)
    assert any("pass^k" in line for line in section)


def test_ten_flipping_cases_are_listed_and_the_rest_are_counted() -> None:
    text = text_of(run_of({f"q{n}": [1.0, 0.0] for n in range(12)}))
    assert "test_a flips: q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, ... 2 more" in text


def test_a_run_without_repeats_has_no_section() -> None:
    run = run_of({"good": [1.0], "bad": [0.0]}, "accuracy >= 0.9")
    assert "repeat" not in text_of(run)
    assert "repeat" not in gate_failure(run.gates[0].result)
    content = results(run)
    assert "repeats" not in content
    assert "n_cases" not in json.dumps(content)


def test_results_json_has_repeats_and_numbers_of_cases() -> None:
    content = results(run_of(RUNS, "accuracy[topic=*] >= 0.1"))
    (repeats,) = content["repeats"]
    assert repeats == {
        "testbed": TESTBED, "system": "mine", "metric": "accuracy", "k": 3, "n_cases": 3, "n_complete": 3,
        "mean": repeats["mean"], "spread": repeats["spread"], "pass_at_1": repeats["pass_at_1"], "pass_hat_k": 1 / 3,
        "flips": ["flaky"], "always_missed": ["bad"],
    }  # fmt: skip
    assert (content["matrix"]["total"]["n"], content["matrix"]["total"]["n_cases"]) == (9, 3)
    (gate,) = content["gates"]
    assert (gate["n"], gate["n_cases"], gate["cells"][0]["n_cases"]) == (9, 3, 3)


def test_a_failed_gate_lists_missed_and_flaky_cases() -> None:
    run = run_of(RUNS, "accuracy >= 0.9")
    expected = "missed in every repeat: bad; flipping: flaky"
    assert expected in text_of(run)
    failure = gate_failure(run.gates[0].result)
    assert expected in failure
    assert "n 9 of 3 cases" in failure
    many_cases = run_of({f"case-{at}": [0.0, 0.0] for at in range(30)}, "accuracy >= 0.9")
    assert max(map(len, gate_failure(many_cases.gates[0].result).splitlines())) <= 80
    assert "missed in every repeat: none; flipping: flaky" in text_of(run_of({"flaky": [1.0, 0.0]}, "accuracy >= 0.9"))
    assert "missed in every repeat" not in text_of(run_of(RUNS))


def test_several_systems_have_a_row_each() -> None:
    run = run_of(RUNS)
    other = run_of({name: values[::-1] for name, values in RUNS.items()}, system="other")
    for nodeid, record in other.records.items():
        run.take({**json.loads(to_json(record)), "nodeid": f"{nodeid}-other"}, None)
    assert [(each.system, each.flips) for each in run.repeats()] == [("mine", ("flaky",)), ("other", ("flaky",))]
    assert "test_a (mine)" in text_of(run)
    assert "test_a (other) flips: flaky" in text_of(run)


def test_the_gain_from_retrieval_is_an_additional_matrix() -> None:
    run = run_of({"a": [1.0], "b": [1.0], "c": [0.0], "d": [1.0]}, a=0.0, b=1.0, c=1.0)
    text = text_of(run)
    legend = "mean difference (n); * < 5 cases; ! interval excludes 0; +k lack a value"
    assert f"accuracy - closed_book_accuracy by topic x task\n  {legend}" in text
    assert any(line.split() == ["A", "+0.00", "(3+1)*"] for line in text.splitlines())
    content = results(run)
    assert [m["metric"] for m in content["matrices"]] == ["accuracy", "accuracy - closed_book_accuracy"]
    assert content["matrix"]["metric"] == "accuracy"
    total = content["matrices"][1]["total"]
    assert (total["mean"], total["n"], total["n_unscored"]) == (0.0, 3, 1)
    assert total["ci95"][0] == -1.0


def test_the_gain_is_added_to_the_chosen_matrix_and_never_replaces_it() -> None:
    run = run_of({"a": [1.0]}, a=0.0)
    expected = decode_results(results_of(run, "r", FINISHED, MatrixChoice("closed_book_accuracy", "task", "topic")))
    assert [(m["metric"], m["rows"]) for m in expected["matrices"]] == [
        ("closed_book_accuracy", ["qa"]), ("accuracy - closed_book_accuracy", ["qa"]),
    ]  # fmt: skip
    assert decode_results(results_of(run, "r", FINISHED, MatrixChoice("token_f1")))["matrix"] is None


def test_there_is_no_gain_without_a_case_with_both_values() -> None:
    assert run_of({"a": [1.0]}, b=1.0).gains(MatrixChoice()) == []
    assert run_of({"a": [1.0]}).gains(MatrixChoice()) == []
