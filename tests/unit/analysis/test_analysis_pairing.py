"""Pairs of the same case in two runs."""

from __future__ import annotations

from collections.abc import Sequence

from support.samples.measured_samples import measured

from pytest_rageval.analysis.baseline.pairing import Pair, pair_up
from pytest_rageval.analysis.baseline.snapshot import Measured

OTHER = "test_b.py::test_b"


def names(pairs: Sequence[Pair]) -> list[tuple[str, str]]:
    return [(pair.before.case, pair.after.case) for pair in pairs]


def ids(cases: Sequence[Measured]) -> list[str]:
    return [case.case for case in cases]


def test_cases_match_by_id_and_the_others_are_new_or_removed() -> None:
    result = pair_up([measured("q1", 1.0), measured("q2", 1.0)], [measured("q2", 0.0), measured("q3", 1.0)])
    assert names(result.pairs) == [("q2", "q2")]
    assert (ids(result.new), ids(result.removed)) == (["q3"], ["q1"])
    assert (result.renamed, result.changed, result.failed) == ((), (), ())


def test_a_case_with_a_new_id_is_paired_by_its_content() -> None:
    result = pair_up([measured("q1", 1.0, data="d")], [measured("kettle", 0.0, data="d")])
    assert names(result.pairs) == names(result.renamed) == [("q1", "kettle")]
    assert (result.new, result.removed) == ((), ())


def test_a_record_inserted_at_the_top_renames_the_others_and_keeps_their_pairs() -> None:
    before = [measured(f"q{n}", 1.0, data=f"d{n}") for n in range(5)]
    after = [measured("q0", 0.0, data="new"), *(measured(f"q{n + 1}", 1.0, data=f"d{n}") for n in range(5))]
    result = pair_up(before, after)
    assert names(result.pairs) == names(result.renamed) == [(f"q{n}", f"q{n + 1}") for n in range(5)]
    assert (ids(result.new), ids(result.removed), result.changed) == (["q0"], [], ())


def test_cases_with_new_facets_or_in_a_new_testbed_are_paired() -> None:
    result = pair_up([measured("q1", 1.0, topic="Funds")], [measured("q1", 1.0, topic="Equity")])
    assert names(result.renamed) == [("q1", "q1")]
    result = pair_up([measured("q1", 1.0)], [measured("q1", 1.0, testbed=OTHER)])
    assert names(result.renamed) == [("q1", "q1")]


def test_cases_are_not_paired_across_testbeds_that_both_runs_have() -> None:
    stays = [measured("q0", 1.0), measured("q0", 1.0, testbed=OTHER)]
    result = pair_up([*stays, measured("q1", 1.0)], [*stays, measured("q1", 1.0, testbed=OTHER)])
    assert names(result.pairs) == [("q0", "q0")] * 2
    assert (ids(result.new), ids(result.removed)) == (["q1"], ["q1"])


def test_cases_with_changed_content_are_counted_and_not_compared() -> None:
    result = pair_up([measured("q1", 1.0, data="d")], [measured("q1", 0.0, data="e")])
    assert names(result.changed) == [("q1", "q1")]
    assert (result.pairs, result.renamed, result.new, result.removed) == ((), (), (), ())


def test_a_case_without_a_digest_is_paired_only_by_its_id() -> None:
    result = pair_up([measured("q1", 1.0, data="")], [measured("q1", 0.0, data="e")])
    assert names(result.pairs) == [("q1", "q1")]
    assert result.renamed == ()
    result = pair_up([measured("q1", 1.0, data="")], [measured("q2", 0.0, data="")])
    assert (ids(result.new), ids(result.removed), result.pairs) == (["q2"], ["q1"], ())


def test_content_that_several_cases_share_identifies_none_of_them() -> None:
    twins = [measured("q1", 1.0, data="d"), measured("q2", 0.0, data="d")]
    result = pair_up(twins, [measured("q3", 1.0, data="d")])
    assert (ids(result.new), ids(result.removed), result.pairs) == (["q3"], ["q1", "q2"], ())
    result = pair_up(twins, [measured("q1", 1.0, data="d"), measured("q3", 1.0, data="d")])
    assert names(result.pairs) == [("q1", "q1"), ("q2", "q3")]


def test_cases_that_failed_in_either_run_are_counted_separately() -> None:
    result = pair_up(
        [measured("q1", failed=True), measured("q2", 1.0)], [measured("q1", 1.0), measured("q2", failed=True)]
    )
    assert names(result.failed) == [("q1", "q1"), ("q2", "q2")]
    assert result.pairs == ()


def test_single_systems_pair_up_by_position_and_several_by_name() -> None:
    old, new = measured("q1", 1.0, system="v1"), measured("q1", 0.0, system="v2")
    result = pair_up([old], [new])
    assert names(result.pairs) == [("q1", "q1")]
    assert result.renamed == ()
    result = pair_up([old], [new, measured("q1", 0.0, system="v3")])
    assert (result.pairs, ids(result.new), ids(result.removed)) == ((), ["q1", "q1"], ["q1"])
    result = pair_up([old, new], [old, measured("q1", 1.0, system="v3")])
    assert [(pair.before.system, pair.after.system) for pair in result.pairs] == [("v1", "v1")]


def test_answers_are_compared_ignoring_order_and_repetition() -> None:
    def same(before: Sequence[str], after: Sequence[str]) -> bool:
        return Pair(measured("q1", said=before), measured("q1", said=after)).same_answer

    assert same(["a", "b"], ["b", "a"])
    assert same(["a"], ["a", "a", "a"])
    assert not same(["a"], ["b"])
    assert not same(["a", "a"], ["a", "b"])
