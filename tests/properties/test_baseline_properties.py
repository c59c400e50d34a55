"""Laws of pairs, comparisons, gates and baseline files for any two runs."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.analysis.baseline.comparison import Comparison, compare
from pytest_rageval.analysis.baseline.pairing import pair_up
from pytest_rageval.analysis.baseline.regression import GateBaseline, regressions
from pytest_rageval.analysis.baseline.snapshot import Measured, MeasuredTestbed, Snapshot
from pytest_rageval.analysis.gates import parse_gate
from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.model.outcome import Outcome, Score
from pytest_rageval.report.files.baseline_file import read_baseline, write_baseline

METRICS = {"accuracy": MetricInfo(binary=True), "f1": MetricInfo(), "lies": MetricInfo(higher_is_better=False)}
TESTBEDS = ("test_a.py::test_a", "test_b.py::test_b")

IDS = st.sampled_from([f"q{number}" for number in range(6)])
DIGESTS = st.sampled_from(["", *(f"{number:016x}" for number in range(6))])
SHARES = st.integers(0, 1_000_000).map(lambda millionths: millionths / 1_000_000)
SCORES = st.fixed_dictionaries(
    {}, optional={"accuracy": st.sampled_from([0.0, 1.0]), "f1": SHARES, "lies": st.sampled_from([0.0, 0.5, 1.0])}
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)


@st.composite
def cases(draw: st.DrawFn, texts: st.SearchStrategy[str] = IDS, *, one: bool = False) -> Measured:
    scores = draw(SCORES)
    facets = draw(st.dictionaries(st.sampled_from(["topic", "task"]), st.sampled_from("AB"), max_size=2))
    words = tuple(draw(st.lists(DIGESTS.filter(bool), max_size=2)))
    evidence = draw(st.none() | SHARES)
    testbed, system = (TESTBEDS[0], "mine") if one else draw(st.sampled_from([(t, s) for t in TESTBEDS for s in "ab"]))
    return Measured(testbed, draw(texts), system, facets, draw(DIGESTS), words, evidence, scores, not scores)


def sides(texts: st.SearchStrategy[str] = IDS, *, one: bool = False) -> st.SearchStrategy[list[Measured]]:
    """Return a strategy for the cases of a run; with ``one``, all have one testbed and one system."""
    return st.lists(cases(texts, one=one), max_size=8, unique_by=lambda case: case.key)


def snapshot(run: list[Measured]) -> Snapshot:
    testbeds = {nodeid: MeasuredTestbed(nodeid[-6:], tuple(METRICS)) for nodeid in TESTBEDS}
    ordered = tuple(sorted(run, key=lambda case: case.key))
    return Snapshot("r", "2026-01-02T03:04:05+00:00", "sha256:0", {}, METRICS, testbeds, ordered)


def comparison_of(before: list[Measured], after: list[Measured]) -> Comparison:
    return compare(snapshot(before), snapshot(after), alpha=0.05)


@given(sides())
def test_a_run_compared_with_itself_has_no_change(run: list[Measured]) -> None:
    comparison = comparison_of(run, run)
    pairing = comparison.pairing
    assert all(pair.before is pair.after for pair in (*pairing.pairs, *pairing.failed))
    assert len(pairing.pairs) + len(pairing.failed) == len(run)
    assert (pairing.renamed, pairing.changed, pairing.new, pairing.removed) == ((), (), (), ())
    assert comparison.answers_changed == 0
    for each in comparison.results:
        assert (each.test.delta, each.test.p_value, each.broken, each.fixed) == (0, 1, (), ())
        assert each.p_holm == 1
        assert each.test.ci95 is None or each.test.ci95[0] <= 0 <= each.test.ci95[1]


@given(sides(), sides())
def test_each_case_is_in_exactly_one_group(before: list[Measured], after: list[Measured]) -> None:
    result = pair_up(before, after)
    paired = (*result.pairs, *result.changed, *result.failed)
    assert sorted(id(case) for case in before) == sorted(
        [id(p.before) for p in paired] + [id(c) for c in result.removed]
    )
    assert sorted(id(case) for case in after) == sorted([id(p.after) for p in paired] + [id(c) for c in result.new])
    for pair in result.pairs:
        assert pair.before.data == pair.after.data or "" in (pair.before.data, pair.after.data)
        assert (pair.before.failed, pair.after.failed) == (False, False)
    assert {id(pair) for pair in result.renamed} <= {id(pair) for pair in result.pairs}


@given(sides(one=True), sides(one=True))
def test_swapped_sides_flip_signs(before: list[Measured], after: list[Measured]) -> None:
    forward, backward = (
        {each.metric: each for each in result.overall}
        for result in (comparison_of(before, after), comparison_of(after, before))
    )
    assert forward.keys() == backward.keys()
    for key, one in forward.items():
        other = backward[key]
        assert one.test.delta is not None
        assert other.test.delta == pytest.approx(-one.test.delta)
        assert other.test.p_value == one.test.p_value
        assert len(other.broken) == len(one.fixed)
        assert {pair.after.key for pair in other.fixed} == {pair.before.key for pair in one.broken}


@given(sides(), sides(), st.integers())
def test_the_order_of_the_cases_changes_nothing(before: list[Measured], after: list[Measured], seed: int) -> None:
    shuffled = [Random(seed).sample(side, len(side)) for side in (before, after)]
    one, other = pair_up(before, after), pair_up(shuffled[0], shuffled[1])
    for name in ("pairs", "renamed", "changed", "failed"):
        keys = [sorted((p.before.key, p.after.key) for p in getattr(result, name)) for result in (one, other)]
        assert keys[0] == keys[1]
    assert {case.key for case in one.new} == {case.key for case in other.new}


@given(st.lists(st.tuples(SHARES, SHARES), min_size=1, max_size=20), st.sampled_from(["", " - 0.1", " - 1"]))
def test_a_gate_fails_only_on_a_drop_and_never_against_the_same_run(
    values: list[tuple[float, float]], tolerance: str
) -> None:
    gate = parse_gate(f"f1 >= baseline{tolerance}")
    before = [Measured(TESTBEDS[0], f"q{n}", "mine", {}, "", scores={"f1": old}) for n, (old, _) in enumerate(values)]
    after = [replace(case, scores={"f1": new}) for case, (_, new) in zip(before, values, strict=True)]
    outcomes = [
        Outcome(case.name, case.case, case.testbed, {}, "mine", "scored", scores={"f1": Score(case.scores["f1"])})
        for case in after
    ]

    def verdict_against(baseline: list[Measured]) -> str:
        pairs = {pair.after.name: pair for pair in pair_up(baseline, after).pairs}
        (result,) = regressions([GateBaseline(pairs).comparison(gate, outcomes)], 0.05)
        assert result.test.delta is not None
        assert (result.verdict == "not_worse") == gate.holds(result.test.delta)
        return result.verdict

    assert verdict_against(after) == "not_worse"
    if verdict_against(before) == "worse":
        assert sum(new < old for old, new in values) > 0


@given(sides(TEXTS))
def test_a_baseline_survives_writing_and_reading(run: list[Measured]) -> None:
    baseline = snapshot(run)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "b.json"
        write_baseline(path, baseline)
        first = path.read_bytes()
        loaded = read_baseline(path)
        assert loaded == replace(baseline, path="b.json")
        write_baseline(path, loaded)
        assert path.read_bytes() == first
