from __future__ import annotations

from dataclasses import replace

from support.samples.run_samples import NOISE, PLAIN, STARTED, finished_run, instance, outcome, plan, take

from pytest_rageval.model.codec import encode_instance, encode_outcome
from pytest_rageval.model.outcome import Score
from pytest_rageval.report.run.gate_results import NamedGate, ungated_testbeds
from pytest_rageval.report.run.json_text import to_json
from pytest_rageval.report.run.plan import Plan, TestbedPlan
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.summary_data import MatrixChoice, curves


def test_outcomes_are_in_data_order() -> None:
    run = finished_run()
    assert [o.nodeid for o in run.ordered()] == [f"{NOISE}[q2]", f"{NOISE}[q1]", f"{PLAIN}[q3]"]
    assert list(run.outcomes) != [o.nodeid for o in run.ordered()]
    assert run.outcomes[f"{PLAIN}[q3]"] == outcome(PLAIN, "q3", token_f1=Score(0.5))


def test_the_last_run_of_a_case_counts() -> None:
    run = finished_run()
    repetition = outcome(NOISE, "q1", accuracy=Score(0.0))
    run.take(encode_outcome(repetition), None)
    assert len(run.outcomes) == 3
    assert run.outcomes[f"{NOISE}[q1]"] == repetition


def test_an_instance_is_stored_once_and_may_be_missing() -> None:
    run = finished_run()
    run.take(encode_outcome(outcome(NOISE, "q1", accuracy=Score(1.0))), None)
    assert run.instances == {name: to_json(encode_instance(instance(name))) for name in ("q1", "q2", "q3")}


def test_cases_without_an_outcome_are_unfinished() -> None:
    run = finished_run()
    assert run.unfinished() == {NOISE: 1}
    assert Run(STARTED).unfinished().total() == 0


def gates(run: Run) -> list[tuple[str, str, float | None]]:
    return [(gate.nodeid, gate.result.status, gate.result.value) for gate in run.evaluate_gates()]


def test_every_gate_of_testbeds_and_session_is_evaluated_in_its_scope() -> None:
    run = take(finished_run(), outcome(NOISE, "late", accuracy=Score(0.0), token_f1=Score(0.3)))
    assert gates(run) == [
        (f"{NOISE}[gate: accuracy[topic=*] >= 0.9]", "failed", 0.5),
        ("rag::session[gate: error_rate <= 50%]", "passed", 0.25),
        ("rag::session[gate: token_f1 >= 0.1]", "passed", 0.4),
    ]
    assert [gate.result.scope for gate in run.gates] == ["test_noise", "session", "session"]
    assert all(isinstance(gate, NamedGate) for gate in run.gates)
    assert len(run.evaluate_gates()) == 3


def test_a_gate_is_skipped_if_some_of_its_cases_did_not_run() -> None:
    run = finished_run()
    assert {status for _, status, _ in gates(run)} == {"skipped"}
    assert run.gates[0].result.reason == "1 of its cases did not run, because the session stopped early"


def test_a_session_gate_on_a_metric_covers_the_testbeds_that_compute_it() -> None:
    run = take(finished_run(), outcome(NOISE, "late", accuracy=Score(0.0)))
    run.plan.session_gates = ("accuracy >= 0",)
    assert gates(run)[-1] == ("rag::session[gate: accuracy >= 0]", "passed", 0.5)
    assert run.gates[-1].result.n_errors == 1


def test_an_interrupted_run_skips_every_gate() -> None:
    run = finished_run()
    run.interrupted = True
    assert {status for _, status, _ in gates(run)} == {"skipped"}


def test_a_testbed_without_gate_and_assertion_is_reported() -> None:
    def names(*testbeds: TestbedPlan, session: tuple[str, ...] = ()) -> list[str]:
        return ungated_testbeds(Plan({t.nodeid: t for t in testbeds}, session_gates=session))

    ungated = TestbedPlan("a::b", "b", ("accuracy",))
    gated = TestbedPlan("a::c", "c", ("accuracy",), ("n >= 1",))
    asserting = TestbedPlan("a::d", "d", ("accuracy",), asserts=True)
    assert names(ungated, gated, asserting) == ["b"]
    assert names(ungated, session=("n >= 1",)) == []
    assert names() == []


def test_each_primary_metric_has_a_matrix_and_the_largest_comes_first() -> None:
    first, second = finished_run().matrices(MatrixChoice())
    assert (first.metric, first.rows, first.cols, first.row_facet, first.col_facet) == (
        "accuracy", ("A",), ("qa",), "topic", "task",
    )  # fmt: skip
    assert (first.total.mean, first.total.n, first.total.n_unscored) == (1.0, 1, 1)
    assert first.total.ci95 is not None
    assert (second.metric, second.rows, second.cols, second.total.mean) == ("token_f1", ("B",), ("chat",), 0.5)


def test_a_chosen_matrix_is_the_only_one() -> None:
    (matrix,) = finished_run().matrices(MatrixChoice("token_f1", "task", "noise_rate"))
    assert (matrix.metric, matrix.row_facet, matrix.col_facet) == ("token_f1", "task", "noise_rate")
    assert (matrix.rows, matrix.cols) == (("chat", "qa"), ("0", "0.4", "-"))
    assert (matrix.total.mean, matrix.total.n, matrix.total.n_unscored) == (0.5, 1, 2)
    assert finished_run().matrices(MatrixChoice("rejection_rate")) == []


def test_several_systems_have_a_matrix_each() -> None:
    run = finished_run()
    for name in ("other", "another"):
        encoded = encode_outcome(outcome(PLAIN, "q3", token_f1=Score(0.25)))
        run.take({**encoded, "nodeid": f"{PLAIN}[q3-system={name}]", "system": name}, None)
    matrices = [m for m in run.matrices(MatrixChoice()) if m.metric == "token_f1"]
    assert [(m.system, m.total.mean) for m in matrices] == [("mine", 0.5), ("another", 0.25), ("other", 0.25)]


def test_the_matrix_is_over_dataset_and_ability_if_there_is_no_topic_and_task() -> None:
    run = Run(STARTED, Plan({NOISE: plan().testbeds[NOISE]}))
    encoded = encode_outcome(outcome(NOISE, "q2", accuracy=Score(1.0)))
    run.take({**encoded, "facets": {"dataset": "rgb:en.json", "ability": "noise_robustness"}}, None)
    (matrix,) = run.matrices(MatrixChoice())
    assert (matrix.rows, matrix.cols) == (("rgb:en.json",), ("noise_robustness",))


def test_matrices_leave_out_skipped_cases() -> None:
    run = take(Run(STARTED, plan()), outcome(NOISE, "q1", "skipped"))
    assert run.matrices(MatrixChoice()) == []
    assert run.matrices(MatrixChoice("accuracy")) == []


def test_a_testbed_at_several_noise_rates_has_a_curve() -> None:
    run = finished_run()
    (curve,) = curves(run.plan, run.originals())
    name, system, metric, outcomes = curve
    assert (name, system, metric) == ("test_noise", "mine", "accuracy")
    assert [o.case_id for o in outcomes] == ["q2", "q1"]
    assert curves(plan(), [outcome(NOISE, "q1", accuracy=Score(1.0))]) == []


def test_a_deselected_case_is_not_counted_as_removed() -> None:
    baseline = take(Run(STARTED, plan()), *(outcome(NOISE, name, accuracy=Score(1.0)) for name in ("q1", "q2")))

    def removed_cases(run: Run) -> list[str]:
        run.baseline = baseline.snapshot()
        comparison = run.comparison(MatrixChoice())
        assert comparison is not None
        return [case.case for case in comparison.pairing.removed]

    stopped_run, complete_run = (
        take(Run(STARTED, plan()), outcome(NOISE, "q2", accuracy=Score(1.0))) for _ in range(2)
    )
    complete_run.plan = replace(complete_run.plan, cases={f"{NOISE}[q2]": complete_run.plan.cases[f"{NOISE}[q2]"]})
    assert removed_cases(stopped_run) == []
    assert removed_cases(complete_run) == ["q1"]
    assert removed_cases(take(complete_run, outcome(NOISE, "q1", "skipped"))) == []
