"""Gates need enough comparable cases in the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from support.samples.measured_samples import TESTBED, measured
from support.samples.outcome_samples import failed, outcome, skipped

from pytest_rageval.analysis.baseline.comparable import CaseFates, case_fates, share_of
from pytest_rageval.analysis.baseline.pairing import pair_up
from pytest_rageval.analysis.baseline.regression import GateBaseline
from pytest_rageval.analysis.baseline.snapshot import Measured, measured_of
from pytest_rageval.analysis.decisions.decide import evaluate
from pytest_rageval.analysis.decisions.verdicts import GateResult
from pytest_rageval.analysis.gates import parse_gate
from pytest_rageval.errors import SettingError
from pytest_rageval.model.outcome import Outcome


def before(n: int, first: int = 0, topic: str = "A") -> list[Measured]:
    """Return cases of a baseline, all answered right; the outcomes have no data digest, so ids pair them."""
    return [measured(f"q{at}", 1.0, system="rag_system", topic=topic) for at in range(first, first + n)]


def now(n: int, first: int = 0, topic: str = "A") -> list[Outcome]:
    return [outcome(f"q{at}", 1.0, topic=topic) for at in range(first, first + n)]


def gate_result(
    gate: str,
    cases: Sequence[Measured],
    outcomes: Sequence[Outcome],
    deselected: Sequence[int] = (),
    least: float = 0.5,
    *,
    by_name: bool = False,
) -> GateResult:
    """Return the result of a gate over outcomes against the cases of a baseline."""
    after = measured_of(outcomes)
    pairing = pair_up(cases, after)
    absent = [each for each in outcomes if each.status == "skipped"]
    fates = CaseFates(
        case_fates(cases, pairing, after, deselected, absent, by_name=by_name), {TESTBED: "test_a"}, least
    )
    pairs = {node: pair for pair in pairing.pairs for node in pair.after.nodes}
    return evaluate(parse_gate(gate), "test_a", outcomes, {}, against=GateBaseline(pairs, fates=fates))


GATE = "accuracy >= baseline"


@pytest.mark.parametrize(
    ("outcomes", "counts"),
    [
        (now(5), ""),
        (now(4), "4 of 10 cases compared: 6 removed"),
        ([*now(4), *now(20, first=50)], "4 of 10 cases compared: 6 removed"),
        ([*now(4), *(replace(each, data="another") for each in now(6, first=4))], "4 of 10 cases compared: 6 changed"),
        ([*now(4), *(failed(f"q{at}", topic="A") for at in range(4, 10))], "4 of 10 cases compared: 6 in error"),
        (
            [
                *now(4),
                *(outcome(f"q{at}", "judge_unavailable", topic="A") for at in range(4, 9)),
                skipped("q9", topic="A"),
            ],
            "4 of 10 cases compared: 5 unscored (judge_unavailable), 1 skipped",
        ),
    ],
    ids=["enough", "removed", "new", "changed", "failed", "unscored"],
)
def test_cases_that_cannot_be_compared_lower_the_share(outcomes: Sequence[Outcome], counts: str) -> None:
    result = gate_result(GATE, before(10), outcomes)
    assert (result.status, result.not_comparable) == (("failed", True) if counts else ("passed", False))
    assert result.reason == (f"not comparable, {counts} (rag_min_compared = 0.5)" if counts else None)
    assert result.bare_reason == (f"not comparable, {counts.partition(':')[0]}" if counts else "")


def test_deselected_cases_do_not_count() -> None:
    assert gate_result(GATE, before(10), now(2), deselected=range(2, 10)).status == "passed"
    # The four removed cases count by a third: two of the six known cases are selected.
    assert gate_result(GATE, before(10), now(2), deselected=range(2, 6)).status == "passed"
    result = gate_result(GATE, before(20), now(2), deselected=range(2, 6))
    assert result.reason == "not comparable, 2 of 7 cases compared: 5 removed (rag_min_compared = 0.5)"


def test_a_value_that_the_baseline_never_had_is_not_missed() -> None:
    cases = [
        *before(3),
        *(measured(f"q{at}", system="rag_system", scores={"f1": 1.0}, topic="A") for at in range(3, 20)),
    ]
    assert gate_result(GATE, cases, now(3)).status == "passed"
    result = gate_result(GATE, [replace(case, scores={"f1": 1.0}) for case in cases], now(3))
    why = "not comparable, the baseline holds no accuracy of test_a: add it with --rag-update-baseline"
    assert (result.status, result.reason) == ("failed", why)


def test_a_baseline_of_other_testbeds_or_systems_is_not_compared() -> None:
    result = gate_result(GATE, [replace(case, testbed="test_b.py::test_b", data="other") for case in before(3)], now(3))
    assert result.reason == "not comparable, the baseline does not hold test_a: add it with --rag-update-baseline"
    others = [replace(case, system=name) for case in before(3) for name in ("one", "two")]
    message = "not comparable, the baseline does not hold the system rag_system of test_a"
    assert (gate_result(GATE, others, now(3)).reason or "").startswith(f"{message}, only one, two: ")
    alone = [replace(case, system="one") for case in before(3)]
    assert gate_result(GATE, alone, now(3)).status == "passed"
    by_name = gate_result(GATE, alone, now(3), by_name=True)
    assert (by_name.status, by_name.reason) == ("failed", f"{message}, only one: add it with --rag-update-baseline")


def test_a_cell_counts_its_own_cases() -> None:
    cases = [*before(10, topic="A"), *before(10, first=10, topic="B")]
    outcomes = [*now(10, topic="A"), *now(3, first=10, topic="B")]
    assert gate_result(GATE, cases, outcomes).status == "passed"
    result = gate_result("accuracy[topic=*] >= baseline", cases, outcomes)
    why = "not comparable, 3 of 10 cases compared at topic=B: 7 removed (rag_min_compared = 0.5)"
    assert (result.slice, result.reason) == ({"topic": "B"}, why)
    assert gate_result("accuracy[topic=B] >= baseline", cases, outcomes).not_comparable
    assert gate_result("accuracy[topic=A] >= baseline", cases, outcomes).status == "passed"


def test_a_removed_cell_fails_unless_it_was_too_small() -> None:
    cases = [*before(10, topic="A"), *before(2, first=10, topic="B")]
    result = gate_result("accuracy[topic=*] >= baseline", cases, now(10, topic="A"))
    assert (result.status, [cell.not_comparable for cell in result.cells]) == ("failed", [False, True])
    small = gate_result("accuracy[topic=*, min_n=3] >= baseline", cases, now(10, topic="A"))
    assert (small.status, len(small.cells)) == ("passed", 1)
    assert gate_result("accuracy[topic=*] >= baseline", cases, now(10, topic="A"), least=0.0).status == "passed"
    assert (
        gate_result("accuracy[topic=*] >= baseline", cases, now(10, topic="A"), deselected=(10, 11)).status == "passed"
    )


def test_a_case_counts_in_its_current_testbed() -> None:
    outcomes = [*now(10, topic="A"), *now(10, first=10, topic="C")]
    cases = [*before(10, topic="A"), *before(10, first=10, topic="B")]
    outcomes = [replace(each, data=f"data of {each.case_id}") for each in outcomes]
    for gate in ("accuracy[topic=*] >= baseline", "accuracy[topic=C] >= baseline"):
        assert gate_result(gate, cases, outcomes).status == "passed"


def test_a_slice_without_baseline_cases_fails() -> None:
    result = gate_result("accuracy[topic=C] >= baseline", before(3, topic="A"), now(3, first=5, topic="C"))
    assert (result.reason or "").startswith("not comparable, the baseline holds no case of this slice")


@pytest.mark.parametrize(("text", "share"), [("0", 0.0), ("0.25", 0.25), ("1", 1.0)])
def test_a_valid_share_is_read(text: str, share: float) -> None:
    assert share_of(text, "rag_min_compared") == share


@pytest.mark.parametrize("text", ["", "1.01", "-0.1", "50%", "nan", "inf"])
def test_an_invalid_share_is_refused(text: str) -> None:
    with pytest.raises(SettingError, match="write a share from 0 to 1, such as"):
        share_of(text, "rag_min_compared")
