"""Warnings about baseline gates that can never fail."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_rageval.report.run.never_failing_gates import never_failing_gates
from pytest_rageval.report.run.plan import Plan, Shard, TestbedPlan

TESTBED = "test_a.py::test_a"


def plan_for(
    facets: list[dict[str, str]], *gates: str, session: tuple[str, ...] = (), cluster: str = "dialogue"
) -> Plan:
    """Return a plan with one case for each of the facets."""
    testbed = TestbedPlan(TESTBED, "test_a", ("accuracy",), gates, len(facets), cluster=cluster)
    cases = {f"{TESTBED}[{at}]": (str(at), TESTBED, each.get("system", "s"), at) for at, each in enumerate(facets)}
    return Plan({TESTBED: testbed}, cases, facets, session_gates=session)


def test_a_gate_needs_five_cases_to_fail() -> None:
    [sentence] = never_failing_gates(plan_for([{}] * 4, "accuracy >= baseline", "accuracy >= 0.5"))
    assert sentence == (
        "test_a: accuracy >= baseline can never fail: it has 4 cases, and at rag_alpha 0.05 at least 5 independent "
        "ones have to get worse"
    )
    assert never_failing_gates(plan_for([{}] * 5, "accuracy >= baseline")) == []


def test_four_dialogues_or_documents_are_too_few() -> None:
    turns = [{"dialogue": str(at % 4), "document": str(at % 2)} for at in range(40)]
    [sentence] = never_failing_gates(plan_for(turns, "accuracy >= baseline - 0.02"))
    assert "it has 40 cases in 4 dialogues, and" in sentence
    [sentence] = never_failing_gates(plan_for(turns, "accuracy >= baseline", cluster="document"))
    assert "it has 40 cases in 2 documents, and" in sentence


def test_a_gate_over_cells_can_fail_if_one_cell_has_enough_cases() -> None:
    topics = [{"topic": "a"}] * 5 + [{"topic": "b"}] * 2
    assert never_failing_gates(plan_for(topics, "accuracy[topic=*] >= baseline")) == []
    [sentence] = never_failing_gates(plan_for(topics[1:], "accuracy[topic=*] >= baseline"))
    assert "it has 4 cases in its largest cell, and" in sentence
    [sentence] = never_failing_gates(plan_for(topics, "accuracy[topic=b] >= baseline"))
    assert "it has 2 cases, and" in sentence


def test_each_system_needs_enough_cases() -> None:
    assert len(never_failing_gates(plan_for([{"system": system} for system in "aabbcc"], "accuracy >= baseline"))) == 1


def test_session_gates_are_also_reported() -> None:
    [sentence] = never_failing_gates(plan_for([{}] * 3, session=("accuracy >= baseline",)))
    assert sentence.startswith("session: accuracy >= baseline can never fail: it has 3 cases")
    assert never_failing_gates(plan_for([{}] * 3, session=("other >= baseline",))) == []


@pytest.mark.parametrize(
    "change", [{"updates": True}, {"inconclusive": "fail"}, {"alpha": 0.1}, {"shard": Shard(1, 2, 8, "", ())}]
)
def test_another_alpha_or_policy_or_an_update_gives_no_warning(change: dict[str, Any]) -> None:
    plan = plan_for([{}] * 4, "accuracy >= baseline")
    for name, value in change.items():
        setattr(plan, name, value)
    assert never_failing_gates(plan) == []
