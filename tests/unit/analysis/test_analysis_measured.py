"""Measured cases that a run stores in a baseline."""

from __future__ import annotations

from dataclasses import replace

from support.samples.outcome_samples import failed, outcome, repeats, skipped

from pytest_rageval.analysis.baseline.snapshot import Measured, measured_of
from pytest_rageval.model.outcome import Score


def test_a_measured_case_has_scores_and_digests_and_no_facets_of_a_single_run() -> None:
    scored = outcome("q1", 0.12345678, topic="Funds", system="mine", knew="true")
    (case,) = measured_of([replace(scored, system="mine", data="d", said="s", evidence=0.5)])
    assert case == Measured(
        "test_a.py::test_a", "q1", "mine", {"topic": "Funds"}, "d", ("s",), 0.5, {"accuracy": 0.123457}, False,
        ("test_a.py::test_a[q1]",),
    )  # fmt: skip
    assert case.name == "test_a.py::test_a[q1]"


def test_repeats_are_one_case_with_the_means_of_those_that_have_a_score() -> None:
    runs = repeats("q1", 1.0, 0.0, None, 1.0, "judge_unavailable")
    runs = [replace(run, said=f"s{at}", evidence=at / 4, answer_seen=at / 8) for at, run in enumerate(runs)]
    (case,) = measured_of(runs)
    assert case.scores == {"accuracy": 0.666667}
    assert case.said == ("s0", "s1", "s2", "s3", "s4")
    assert (case.evidence, case.answer_seen) == (0.5, 0.25)
    assert not case.failed
    assert len(case.nodes) == 5


def test_a_failed_case_has_no_scores_and_a_skipped_one_is_left_out() -> None:
    (case,) = measured_of([failed("q1", 1.0), skipped("q2")])
    assert (case.case, case.failed, case.scores, case.evidence, case.data) == ("q1", True, {}, None, "")


def test_a_score_without_a_value_is_left_out() -> None:
    (case,) = measured_of([replace(outcome("q1"), scores={"accuracy": Score(1.0), "f1": Score(reason="no_gold")})])
    assert case.scores == {"accuracy": 1.0}


def test_settings_and_systems_are_separate_and_sorted() -> None:
    two = [outcome("q1", 1.0, noise_rate=rate) for rate in ("0.4", "0")]
    other = replace(outcome("q1", 1.0, noise_rate="0"), system="another")
    identities = [
        (case.case, case.system, dict(case.facets)) for case in measured_of([*two, outcome("q0", 0.0), other])
    ]
    assert identities == [
        ("q0", "rag_system", {}),
        ("q1", "another", {"noise_rate": "0"}),
        ("q1", "rag_system", {"noise_rate": "0"}),
        ("q1", "rag_system", {"noise_rate": "0.4"}),
    ]
