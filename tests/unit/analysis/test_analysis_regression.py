"""Gates against a baseline."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from support.samples.measured_samples import measured
from support.samples.outcome_samples import outcome, repeats

from pytest_rageval.analysis.baseline.pairing import Pair
from pytest_rageval.analysis.baseline.regression import ALPHA_PER, AlphaPer, GateBaseline, Policy, regressions
from pytest_rageval.analysis.decisions.decide import decide, evaluate
from pytest_rageval.analysis.decisions.verdicts import GateResult, measure
from pytest_rageval.analysis.gates import parse_gate
from pytest_rageval.model.outcome import Outcome


def changed_cases(n: int, n_broken: int, n_fixed: int = 0, topic: str = "A") -> tuple[list[Outcome], dict[str, Pair]]:
    """Return outcomes of a topic, and their cases then and now: some broke, some were fixed, the rest is right."""
    values = [(1.0, 0.0)] * n_broken + [(0.0, 1.0)] * n_fixed + [(1.0, 1.0)] * (n - n_broken - n_fixed)
    outcomes = [outcome(f"{topic}{at}", now, topic=topic) for at, (_, now) in enumerate(values)]
    pairs = {
        each.nodeid: Pair(measured(each.case_id, then, topic=topic), measured(each.case_id, now, topic=topic))
        for each, (then, now) in zip(outcomes, values, strict=True)
    }
    return outcomes, pairs


def gate_result(gate: str, *parts: tuple[list[Outcome], dict[str, Pair]], policy: Policy = "warn") -> GateResult:
    outcomes = [each for part, _ in parts for each in part]
    pairs = {nodeid: pair for _, part in parts for nodeid, pair in part.items()}
    return evaluate(parse_gate(gate), "test_a", outcomes, {}, against=GateBaseline(pairs, 0.05, policy))


def verdict(result: GateResult) -> str:
    assert result.regression is not None
    return result.regression.verdict


@pytest.mark.parametrize(
    ("gate", "n_broken", "n_fixed", "expected", "status"),
    [
        ("accuracy >= baseline", 0, 0, "not_worse", "passed"),
        ("accuracy >= baseline", 3, 5, "not_worse", "passed"),
        ("accuracy >= baseline", 4, 0, "inconclusive", "passed"),
        ("accuracy >= baseline", 5, 0, "worse", "failed"),
        ("accuracy >= baseline - 0.05", 5, 0, "not_worse", "passed"),
        ("accuracy >= baseline - 0.049", 5, 0, "worse", "failed"),
        ("accuracy >= baseline", 8, 4, "inconclusive", "passed"),
    ],
)
def test_a_drop_fails_if_it_is_beyond_the_tolerance_and_significant(
    gate: str, n_broken: int, n_fixed: int, expected: str, status: str
) -> None:
    result = gate_result(gate, changed_cases(100, n_broken, n_fixed))
    assert (verdict(result), result.status) == (expected, status)
    assert result.regression is not None
    assert len(result.regression.broken) == n_broken
    assert result.regression.test.n_pairs == 100


def test_a_failed_gate_names_the_change_and_the_cases() -> None:
    result = gate_result("accuracy >= baseline", changed_cases(10, 6))
    assert result.reason == "accuracy changed by -0.6 against the baseline, one-sided p 0.016 over 10 cases"
    assert [nodeid for nodeid, _ in result.worst] == [f"test_a.py::test_a[A{n}]" for n in range(5)]


@pytest.mark.parametrize(("policy", "status"), [("pass", "passed"), ("warn", "passed"), ("fail", "failed")])
def test_an_inconclusive_drop_follows_the_setting(policy: Policy, status: str) -> None:
    result = gate_result("accuracy >= baseline", changed_cases(10, 3), policy=policy)
    assert (verdict(result), result.status) == ("inconclusive", status)
    if policy == "fail":
        assert result.reason is not None
        assert result.reason.endswith("over 10 cases, not significant")


def test_an_upper_bound_is_broken_by_rising() -> None:
    outcomes, pairs = changed_cases(20, 0, 6)
    gate = "accuracy <= baseline + 0.02"
    result = gate_result(gate, (outcomes, pairs))
    assert (verdict(result), result.status) == ("worse", "failed")
    assert result.regression is not None
    assert len(result.regression.broken) == 6
    assert verdict(gate_result(gate, changed_cases(20, 6))) == "not_worse"
    assert verdict(gate_result("accuracy <= baseline + 0.3", (outcomes, pairs))) == "not_worse"


def test_the_cells_of_a_gate_are_adjusted_together() -> None:
    alone = gate_result("accuracy >= baseline", changed_cases(20, 5))
    assert verdict(alone) == "worse"
    cells = [changed_cases(20, 5, topic="A"), changed_cases(20, 0, topic="B"), changed_cases(20, 4, 1, topic="C")]
    result = gate_result("accuracy[topic=*] >= baseline", *cells)
    cell_results = [cell.regression for cell in result.cells]
    assert [each.verdict for each in cell_results if each] == ["inconclusive", "not_worse", "inconclusive"]
    assert [each.p_value for each in cell_results if each] == [1 - (31 / 32) ** 2, 1, 6 / 32]
    assert [each.family for each in cell_results if each] == [3, 3, 3]


def test_a_cell_that_cannot_be_significant_does_not_adjust_the_others() -> None:
    cells = [changed_cases(20, 5, topic="A"), changed_cases(20, 2, 2, topic="B"), changed_cases(20, 4, topic="C")]
    result = gate_result("accuracy[topic=*] >= baseline", *cells)
    cell_results = [cell.regression for cell in result.cells]
    assert [each.p_value for each in cell_results if each] == [1 / 32, 11 / 16, 1 - (15 / 16) ** 2]
    assert (result.status, result.slice) == ("failed", {"topic": "A"})
    assert result.cells[0].status == "failed"
    assert result.cells[2].status == "passed"


def session(per: AlphaPer, *gates: str) -> list[GateResult]:
    """Return the results of gates over 20 cases of A (5 broken) and 20 of B (1 broken, 4 fixed)."""
    parts = changed_cases(20, 5, topic="A"), changed_cases(20, 1, 4, topic="B")
    outcomes = [each for part, _ in parts for each in part]
    against = GateBaseline({nodeid: pair for _, part in parts for nodeid, pair in part.items()}, per=per)
    return decide([measure(parse_gate(gate), "test_a", outcomes, {}, against=against) for gate in gates], against)


@pytest.mark.parametrize(
    ("per", "p_value", "expected"), [("session", 1 - (31 / 32) ** 2, "inconclusive"), ("gate", 1 / 32, "worse")]
)
def test_the_gates_of_a_session_are_adjusted_together_or_separately(
    per: AlphaPer, p_value: float, expected: str
) -> None:
    a, b = session(per, "accuracy[topic=A] >= baseline", "accuracy[topic=B] >= baseline")
    assert a.regression is not None
    assert (a.regression.p_value, verdict(a), verdict(b)) == (p_value, expected, "not_worse")


def test_gates_with_the_same_hypothesis_count_once() -> None:
    same = ["accuracy[topic=A] >= baseline", "accuracy[topic=A] >= baseline - 0.1", "accuracy[topic=*] >= baseline"]
    cell_results = [result.regression for result in session("session", *same, "accuracy[topic=A] <= baseline")]
    assert [each.family for each in cell_results if each] == [3, 3, 3, 3]  # A down, B down, A up
    assert len({each.p_value for each in cell_results[:3] if each}) == 1


def test_a_drop_inside_the_tolerance_stays_in_the_family() -> None:
    a, b = session("session", "accuracy[topic=A] >= baseline", "accuracy[topic=B] >= baseline - 0.5")
    assert (verdict(a), verdict(b)) == ("inconclusive", "not_worse")


def test_the_smallest_detectable_drop_is_that_of_the_family() -> None:
    least_drops = {}
    for per in ALPHA_PER:
        (a, _) = session(per, "accuracy[topic=A] >= baseline", "accuracy[topic=B] >= baseline")
        assert a.regression is not None
        least_drops[per] = a.regression.test.least_drop or 0
    assert least_drops["session"] > least_drops["gate"] > 0


def test_the_deciding_cell_is_the_one_that_fell_most() -> None:
    result = gate_result(
        "accuracy[topic=*] >= baseline", changed_cases(20, 6, topic="A"), changed_cases(20, 12, topic="B")
    )
    assert result.slice == {"topic": "B"}
    assert [cell.status for cell in result.cells] == ["failed", "failed"]


def test_cases_that_are_not_in_the_baseline_decide_nothing() -> None:
    outcomes, _ = changed_cases(3, 1)
    result = gate_result("accuracy >= baseline", (outcomes, {}))
    assert (verdict(result), result.status) == ("inconclusive", "passed")
    result = gate_result("accuracy >= baseline", (outcomes, {}), policy="fail")
    assert result.reason == "nothing to compare: none of its 3 cases is in the baseline"


def test_a_gate_of_a_run_that_becomes_the_baseline_is_skipped() -> None:
    outcomes, _ = changed_cases(3, 1)
    result = evaluate(parse_gate("accuracy >= baseline"), "test_a", outcomes, {})
    assert (result.status, result.reason) == ("skipped", "this run is to become the baseline")


def test_repeats_of_a_case_are_one_pair() -> None:
    runs = [run for n in range(6) for run in repeats(f"q{n}", 0.0, 0.5, 1.0)]
    pairs = {run.nodeid: pair for run, pair in zip(runs, pairs_of_repeats(6), strict=True)}
    against = GateBaseline(pairs)
    (test,) = regressions([against.comparison(parse_gate("accuracy >= baseline"), runs)], 0.05)
    assert (test.test.n_pairs, test.test.delta, test.verdict) == (6, -0.5, "worse")


def pairs_of_repeats(n: int) -> Sequence[Pair]:
    pairs = [Pair(measured(f"q{at}", 1.0), measured(f"q{at}", 0.5)) for at in range(n)]
    return [pair for pair in pairs for _ in range(3)]
