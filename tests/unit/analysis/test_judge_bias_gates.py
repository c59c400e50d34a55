"""Gates over the scores of a judge that favours a system."""

from __future__ import annotations

from pytest_rageval.analysis.decisions.decide import decide
from pytest_rageval.analysis.decisions.judge_bias import fail_biased
from pytest_rageval.analysis.decisions.verdicts import GateResult, measure
from pytest_rageval.analysis.gates import parse_gate
from pytest_rageval.model.outcome import Outcome, Score
from pytest_rageval.report.sections.gates import gate_failure, gate_headline

BIASED = {"kiosk": ("judged", 0.4, 30)}
WHY = "biased judge, gate people:judged instead"


def outcomes(*systems: str) -> list[Outcome]:
    return [
        Outcome(f"t[{at}-{system}]", str(at), "t", {"system": system}, system, "scored", scores={"judged": Score(1.0)})
        for system in systems
        for at in range(4)
    ]


def decide_gate(gate: str, *systems: str) -> GateResult:
    judged_outcomes = outcomes(*systems)
    (result,) = decide(
        [fail_biased(measure(parse_gate(gate), "t", judged_outcomes, {}), BIASED, judged_outcomes)], None
    )
    return result


def test_a_gate_within_its_bound_fails_if_its_judge_is_biased() -> None:
    result = decide_gate("judged >= 0.5", "kiosk")
    assert (result.status, result.value) == ("failed", 1.0)
    assert gate_headline(result) == f"{WHY}: its mean is 0.40 above people's on 30 labels"
    assert gate_failure(result).startswith(WHY)


def test_a_gate_that_misses_its_bound_names_the_bias_first() -> None:
    assert gate_headline(decide_gate("judged <= 0.5", "kiosk")).startswith(WHY)


def test_only_the_cells_of_biased_systems_fail() -> None:
    result = decide_gate("judged[system=*] >= 0.5", "desk", "kiosk")
    assert [cell.status for cell in result.cells] == ["passed", "failed"]
    assert result.reason == f"{WHY} at system=kiosk: its mean is 0.40 above people's on 30 labels"
    assert decide_gate("judged >= 0.5", "desk").status == "passed"


def test_a_skipped_gate_stays_skipped() -> None:
    assert decide_gate("judged[topic=none] >= 0.5", "kiosk").status == "skipped"
    assert decide_gate("judged[min_n=9] >= 0.5", "kiosk").status == "skipped"
