"""Variants are compared with their originals at the end of a session."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.samples.outcome_samples import failed, outcome, skipped

from pytest_rageval.analysis.account.sentences import case_sentence
from pytest_rageval.analysis.baseline.comparison import compare
from pytest_rageval.analysis.baseline.snapshot import MeasuredTestbed, Snapshot, measured_of
from pytest_rageval.analysis.decisions.verdicts import MeasuredGate, measure
from pytest_rageval.analysis.gates import parse_gate
from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.analysis.misses import is_miss
from pytest_rageval.analysis.variants import STABLE, originals, relation_results, stable_scores
from pytest_rageval.metrics.answers.stable import NOT_COMPARED
from pytest_rageval.model.outcome import Outcome, Score

TESTBED = "test_a.py::test_a"
PRIMARY = {TESTBED: "accuracy"}


def variant(
    original: Outcome, value: float | str | None, number: int = 1, relation: str = "typo", stable: Score | None = None
) -> Outcome:
    """Return a variant of an outcome in the form that its process reports."""
    facets: dict[str, Any] = {**original.facets, "relation": relation, "variant": str(number)}
    changed = outcome(original.case_id, value, **facets)
    nodeid = original.nodeid.replace("]", f"-relation={relation}-variant={number}]")
    return replace(changed, nodeid=nodeid, scores={**changed.scores, STABLE: stable or Score(reason=NOT_COMPARED)})


def only_stable_score(outcomes: list[Outcome]) -> Score:
    (score,) = stable_scores(outcomes, PRIMARY).values()
    return score


@pytest.mark.parametrize(
    ("before", "after", "expected"), [(1.0, 1.0, 1.0), (1.0, 0.0, 0.0), (0.25, 0.75, 0.5), (0.0, 0.0, 1.0)]
)
def test_stable_is_one_minus_the_difference(before: float, after: float, expected: float) -> None:
    q1 = outcome("q1", before)
    assert only_stable_score([q1, variant(q1, after)]) == Score(expected)
    assert only_stable_score([variant(q1, after), q1]) == Score(expected)


@given(st.floats(0, 1), st.floats(0, 1))
def test_stable_is_symmetric_and_in_its_range(before: float, after: float) -> None:
    value, reverse = (
        only_stable_score([outcome("q1", one), variant(outcome("q1", one), other)]).value
        for one, other in ((before, after), (after, before))
    )
    assert value == reverse
    assert value is not None
    assert 0 <= value <= 1


def test_a_variant_without_a_comparison_has_a_reason() -> None:
    q1 = outcome("q1", 1.0)
    no_judge = outcome("q1", "judge_unavailable")
    assert (
        only_stable_score([failed("q1"), variant(q1, 1.0)]).reason == "original_error: its original ended in an error"
    )
    assert only_stable_score([skipped("q1"), variant(q1, 1.0)]).reason == "original_not_run: its original did not run"
    assert only_stable_score([variant(q1, 1.0)]).reason == "original_not_run: its original did not run"
    assert only_stable_score([no_judge, variant(no_judge, 1.0)]).reason == "judge_unavailable"
    assert only_stable_score([q1, variant(q1, "judge_unavailable")]).reason == "judge_unavailable"


def test_an_expected_change_is_scored_by_the_rule_of_its_relation() -> None:
    q1 = outcome("q1", 1.0)
    refused = variant(q1, 0.0, relation="remove_evidence", stable=Score(1.0))
    assert only_stable_score([q1, refused]) == Score(1.0)
    assert only_stable_score([refused]) == Score(1.0)
    assert only_stable_score([failed("q1"), refused]).value is None
    assert not is_miss(refused, "accuracy", True, [])
    lost = replace(refused, scores={STABLE: Score(0.0)})
    assert is_miss(lost, "accuracy", True, [])
    assert case_sentence(lost, "accuracy", []) == "stable 0.00 < 1.00"


def test_a_variant_is_compared_with_the_original_of_its_setting_system_and_repeat() -> None:
    one = replace(outcome("q1", 1.0), nodeid="test_a.py::test_a[q1-noise_rate=0.4-repeat=1]")
    two = replace(outcome("q1", 0.0), nodeid="test_a.py::test_a[q1-noise_rate=0.4-repeat=2]")
    other = replace(two, nodeid="test_a.py::test_a[q1-noise_rate=0-repeat=2]")
    changed = replace(variant(two, 1.0), nodeid="test_a.py::test_a[q1-noise_rate=0.4-relation=typo-variant=1-repeat=2]")
    assert only_stable_score([one, two, other, changed]) == Score(0.0)
    assert only_stable_score([one, two, replace(changed, system="another")]).value is None


def test_a_case_id_may_look_like_a_variant() -> None:
    q1 = outcome("q-relation=typo-variant=1", 1.0)
    assert only_stable_score([q1, variant(q1, 0.5)]) == Score(0.5)


def count_and_minimum(outcomes: list[Outcome], text: str) -> tuple[int, float | None]:
    result = measure(parse_gate(text), "test_a", outcomes, {"accuracy": MetricInfo(binary=True)})
    assert isinstance(result, MeasuredGate)
    return sum(cell.n for cell in result.cells), min(cell.value for cell in result.cells if cell.value is not None)


def test_gates_measure_originals_unless_they_name_a_relation() -> None:
    q1, q2 = outcome("q1", 1.0, topic="Hours"), outcome("q2", 1.0, topic="Hours")
    everything = [q1, q2, variant(q1, 0.0), variant(q1, 0.0, 2), variant(q2, 1.0, relation="case")]
    assert count_and_minimum(everything, "accuracy >= 0") == (2, 1.0)
    assert count_and_minimum(everything, "accuracy[topic=*] >= 0") == (2, 1.0)
    assert count_and_minimum(everything, "accuracy[relation=typo] >= 0") == (2, 0.0)
    assert count_and_minimum(everything, "accuracy[relation=*] >= 0") == (3, 0.0)
    assert count_and_minimum(everything, "accuracy[variant=2] >= 0") == (1, 0.0)
    assert originals(everything) == [q1, q2]


def test_a_case_and_its_variants_are_one_unit() -> None:
    q1, q2 = outcome("q1", 1.0), outcome("q2", 0.0)
    variants = [variant(each, each.scores["accuracy"].value, number) for each in (q1, q2) for number in range(1, 9)]
    (row,) = relation_results([q1, q2, *variants], PRIMARY, {"accuracy": True})
    assert (row.n, row.n_cases, row.before, row.after) == (16, 2, 0.5, 0.5)
    result = measure(
        parse_gate("accuracy[relation=typo] >= 0"), "test_a", variants, {"accuracy": MetricInfo(binary=True)}
    )
    assert isinstance(result, MeasuredGate)
    low, high = result.cells[0].ci95 or (0.5, 0.5)
    assert high - low > 0.8  # the width for two cases, not for sixteen


def test_repeats_of_a_case_are_one_case() -> None:
    repeats = [outcome(name, 1.0, repeat=str(number)) for name in ("q1", "q2") for number in (1, 2, 3)]
    variants = [variant(each, 1.0, number) for each in repeats for number in (1, 2)]
    (row,) = relation_results([*repeats, *variants], PRIMARY, {})
    assert (row.n, row.n_cases) == (12, 2)


def test_relations_report_counts_and_their_unstable_variants() -> None:
    q1, q2 = outcome("q1", 1.0), outcome("q2", 0.5)
    everything = [
        q1,
        q2,
        variant(q1, 0.0),
        variant(q2, 0.5),
        variant(q2, 1.0, relation="case"),
        variant(outcome("q3", 1.0), 1.0),
    ]
    scores = stable_scores(everything, PRIMARY)
    compared = [
        replace(o, scores={**o.scores, STABLE: scores[o.nodeid]}) if o.nodeid in scores else o for o in everything
    ]
    typo, case = relation_results(compared, PRIMARY, {})
    assert (typo.relation, typo.n, typo.n_cases, typo.n_unscored, typo.stable) == ("typo", 3, 3, 1, 0.5)
    assert typo.unstable == ("test_a.py::test_a[q1-relation=typo-variant=1]",)
    assert (typo.before, case.before, case.after, case.stable) == (0.75, 0.5, 1.0, 0.5)


def snapshot(*outcomes: Outcome) -> Snapshot:
    metrics, testbeds = {"accuracy": MetricInfo(binary=True)}, {TESTBED: MeasuredTestbed("test_a", ("accuracy",))}
    return Snapshot("", "", "", {}, metrics, testbeds, measured_of(outcomes))


def test_a_comparison_uses_originals_unless_its_cells_are_relations() -> None:
    q1, q2 = outcome("q1", 1.0), outcome("q2", 1.0)
    before = snapshot(q1, q2, variant(q1, 1.0), variant(q2, 1.0))
    after = snapshot(q1, q2, variant(q1, 0.0), variant(q2, 0.0))
    assert len(before.originals) == 2
    (overall,) = compare(before, after, alpha=0.05).overall
    assert (overall.n, overall.test.delta) == (2, 0.0)
    (overall,) = compare(before, after, ("relation", None), alpha=0.05).overall
    assert (overall.n, overall.test.delta) == (4, -0.5)
