"""Comparisons of two runs: metrics, cells, causes and units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from support.samples.measured_samples import TESTBED, measured, snapshot

from pytest_rageval.analysis.baseline.comparison import Comparison, MetricComparison, compare, difference
from pytest_rageval.analysis.baseline.multiplicity import holm
from pytest_rageval.analysis.baseline.pairing import Pair
from pytest_rageval.analysis.baseline.sensitivity import sensitivity_of
from pytest_rageval.analysis.baseline.snapshot import Measured


def comparison_of(
    before: Sequence[Measured], after: Sequence[Measured], *, whole: bool = True, all_cells: bool = True
) -> Comparison:
    return compare(snapshot(before), snapshot(after), alpha=0.05, whole=whole, all_cells=all_cells)


def run_of(*right: bool, topics: str = "AB", evidence: float | None = None) -> list[Measured]:
    """Return cases q0, q1 ... that were answered right or wrong, of the topics in turn."""
    return [
        measured(f"q{n}", float(value), evidence=evidence, topic=topics[n % len(topics)], task="qa")
        for n, value in enumerate(right)
    ]


def cell(comparison: Comparison, **where: str) -> MetricComparison:
    (result,) = [each for each in comparison.results if dict(each.slice) == where]
    return result


def test_broken_and_fixed_cases_have_their_causes() -> None:
    before, after = run_of(True, True, False, True, evidence=1.0), run_of(False, True, True, True, evidence=0.0)
    result = cell(comparison_of(before, after))
    assert (result.testbed, result.metric, result.system) == (TESTBED, "accuracy", "mine")
    assert [pair.after.case for pair in result.broken] == ["q0"]
    assert [pair.after.case for pair in result.fixed] == ["q2"]
    assert result.causes == {"retrieval": 1, "generation": 0, "both": 0, "unknown": 0}
    assert (result.test.n_pairs, result.test.baseline, result.test.value, result.test.delta) == (4, 0.75, 0.75, 0.0)
    assert result.p_holm == result.test.p_value == 1.0


def test_a_lower_rank_of_the_evidence_is_caused_by_retrieval() -> None:
    before, after = (
        [measured(f"q{at}", scores={"RR": value, "f1": value}, evidence=1.0, topic="AB"[at % 2]) for at in range(4)]
        for value in (1.0, 0.5)
    )
    for each in comparison_of(before, after).results:
        cause = "retrieval" if each.metric == "RR" else "generation"
        assert each.causes == dict.fromkeys(each.causes, 0) | {cause: each.n}


def test_p_values_of_cells_are_corrected_over_all_cells_of_a_metric() -> None:
    n = 24
    before = run_of(*[True] * n, topics="AAAB")
    after = run_of(*(number % 4 == 3 for number in range(n)), topics="AAAB")
    comparison = comparison_of(before, after)
    a, b = cell(comparison, topic="A", task="qa"), cell(comparison, topic="B", task="qa")
    raw = [a.test.p_value, b.test.p_value]
    assert [a.p_holm, b.p_holm] == holm(raw)
    assert a.p_holm is not None
    assert raw[0] is not None
    assert a.p_holm == 2 * raw[0] < 0.001
    assert (a.test.n_pairs, b.test.n_pairs) == (18, 6)
    assert b.test.delta == 0.0
    assert comparison.cells_of(cell(comparison)) == (a, b)


def test_a_single_cell_is_not_listed() -> None:
    assert [each.slice for each in comparison_of(run_of(True, topics="A"), run_of(True, topics="A")).results] == [{}]


def test_a_metric_whose_lower_values_are_better_breaks_by_rising() -> None:
    before = [measured("q1", scores={"lies": 0.0}), measured("q2", scores={"lies": 1.0})]
    after = [measured("q1", scores={"lies": 0.5}), measured("q2", scores={"lies": 0.0})]
    result = cell(comparison_of(before, after))
    assert [pair.after.case for pair in result.broken] == ["q1"]
    assert [pair.after.case for pair in result.fixed] == ["q2"]


def test_metrics_of_both_runs_are_compared_and_their_cells_on_request() -> None:
    before = [measured("q1", 1.0, scores={"f1": 0.5}, topic="A"), measured("q2", 1.0, topic="B")]
    after = [measured("q1", 1.0, scores={"f1": 0.25}, topic="A"), measured("q2", 1.0, scores={"f1": 1.0}, topic="B")]
    comparison = comparison_of(before, after)
    assert [(each.metric, each.test.n_pairs) for each in comparison.overall] == [("accuracy", 2), ("f1", 1)]
    assert [comparison.is_primary(each) for each in comparison.overall] == [True, False]
    after = [measured("q1", 1.0, scores={"f1": 0.5}, topic="A"), measured("q2", 1.0, scores={"f1": 1.0}, topic="B")]
    assert [each.metric for each in comparison_of(after, after).results] == ["accuracy"] * 3 + ["f1"] * 3
    assert [each.metric for each in comparison_of(after, after, all_cells=False).results] == ["accuracy"] * 3 + ["f1"]


def test_a_case_under_several_settings_is_one_pair() -> None:
    rates = ("0", "0.4", "0.8")
    before = [measured(f"q{n}", 1.0, data=f"{n}{rate}", noise_rate=rate) for n in range(4) for rate in rates]
    after = [measured(f"q{n}", float(n > 0), data=f"{n}{rate}", noise_rate=rate) for n in range(4) for rate in rates]
    comparison = comparison_of(before, after)
    overall = cell(comparison)
    assert (overall.test.n_pairs, overall.test.baseline, overall.test.value) == (4, 1.0, 0.75)
    assert len(overall.broken) == 3
    assert [dict(each.slice) for each in comparison.cells_of(overall)] == [{"noise_rate": rate} for rate in rates]


def test_the_case_is_the_unit_of_a_difference() -> None:
    pairs = [
        Pair(measured("q1", 1.0, noise_rate=rate), measured("q1", value, noise_rate=rate))
        for rate, value in (("0", 1.0), ("0.4", 0.0))
    ]
    result = difference(pairs, "accuracy", higher_is_better=True, alpha=0.05)
    assert (result.n_pairs, result.delta) == (1, -0.5)


def test_each_system_is_compared_separately() -> None:
    before = [measured("q1", 1.0, system=name) for name in ("a", "b")]
    after = [measured("q1", 1.0, system="a"), measured("q1", 0.0, system="b")]
    result = {each.system: each.test.delta for each in comparison_of(before, after).overall}
    assert result == {"a": 0.0, "b": -1.0}


def test_cases_missing_from_a_partial_run_are_not_removed() -> None:
    before, after = run_of(True, True), run_of(True)
    assert [case.case for case in comparison_of(before, after).pairing.removed] == ["q1"]
    assert comparison_of(before, after, whole=False).pairing.removed == ()


def test_an_answer_that_changed_while_its_scores_did_not_is_counted() -> None:
    before = [measured("q1", 1.0, said=["a"]), measured("q2", 1.0, said=["a"]), measured("q3", 1.0)]
    after = [measured("q1", 1.0, said=["b"]), measured("q2", 0.0, said=["b"]), measured("q3", 1.0, said=["b"])]
    assert comparison_of(before, after).answers_changed == 1


def test_the_cells_are_those_of_the_requested_facets() -> None:
    cases = [measured(f"q{n}", 1.0, topic="A", level=level, task="qa") for n, level in enumerate(("deep", "flat"))]
    result = compare(snapshot(cases), snapshot(cases), ("level", "topic"), alpha=0.05)
    assert [dict(each.slice) for each in result.results if each.slice] == [
        {"level": "deep", "topic": "A"}, {"level": "flat", "topic": "A"},
    ]  # fmt: skip


def test_each_primary_metric_has_a_plan_with_more_cases_for_a_smaller_drop() -> None:
    cases = [measured(f"q{n}", float(n % 3 > 0), scores={"f1": 0.5}) for n in range(30)]
    after = [measured(f"q{n}", float(n % 4 > 0), scores={"f1": 0.5}) for n in range(30)]
    comparison = comparison_of(cases, after)
    (great,), (small,) = (sensitivity_of(comparison, drop, alpha=0.05) for drop in (0.2, 0.05))
    assert great.comparison.metric == small.comparison.metric == "accuracy"
    assert great.needed is not None
    assert small.needed is not None
    assert great.needed < small.needed
    (least,) = sensitivity_of(comparison, great.comparison.test.least_drop or 1, alpha=0.05)
    assert least.needed is not None
    assert least.needed <= 30


def test_the_cell_of_cases_without_facets_is_separate_from_all_cases() -> None:
    cases = [measured("q1", 1.0, topic="A"), measured("q2", 1.0)]
    comparison = comparison_of(cases, cases)
    assert [each.test.n_pairs for each in comparison.overall] == [2]
    assert [dict(each.slice) for each in comparison.cells_of(comparison.overall[0])] == [
        {"topic": "A"}, {"topic": "-", "ability": "-"},
    ]  # fmt: skip


def test_turns_of_one_dialogue_are_one_unit_of_a_difference() -> None:
    pairs = [
        Pair(measured(f"{d}-{turn}", 1.0, dialogue=str(d)), measured(f"{d}-{turn}", float(d > 3), dialogue=str(d)))
        for d in range(8)
        for turn in range(3)
    ]
    result = difference(pairs, "accuracy", higher_is_better=True, alpha=0.05)
    assert (result.n_pairs, result.n_units, result.facet, result.p_worse) == (24, 8, "dialogue", 1 / 16)
    assert sorted(result.changes.values()) == [3.0] * 4
    alone = [Pair(replace(each.before, facets={}), replace(each.after, facets={})) for each in pairs]
    loose = difference(alone, "accuracy", higher_is_better=True, alpha=0.05)
    assert (loose.n_units, loose.facet, loose.p_worse) == (24, "", 2**-12)


def test_a_cluster_joins_cases_that_it_joined_in_either_run() -> None:
    def of(case: str, document: str) -> Measured:
        return replace(measured(case, 1.0, document=document), cluster="document")

    pairs = [Pair(of("a", "x"), of("a", "y")), Pair(of("b", "x"), of("b", "z")), Pair(of("c", "u"), of("c", "z"))]
    assert difference(pairs, "accuracy", higher_is_better=True, alpha=0.05).n_units == 1
    swapped = [Pair(each.after, each.before) for each in pairs]
    assert difference(swapped, "accuracy", higher_is_better=True, alpha=0.05).n_units == 1


def test_one_case_in_two_testbeds_is_one_unit() -> None:
    both = [[measured("a", value, testbed=name) for value in (1.0, 0.0)] for name in ("t.py::a", "t.py::b")]
    pairs = [Pair(before, after) for before, after in both]
    result = difference(pairs, "accuracy", higher_is_better=True, alpha=0.05)
    assert (result.n_pairs, result.n_units, result.facet) == (2, 1, "")
