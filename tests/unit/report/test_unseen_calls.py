"""Warnings about cost limits that cannot see the calls of a system."""

from __future__ import annotations

from dataclasses import replace

from pytest_rageval.model.answer import Answer, Usage
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.run.plan import Plan, TestbedPlan, UnseenSystems
from pytest_rageval.report.run.unseen_calls import unseen_at_end, unseen_at_start

NODE, OTHER = "t.py::one", "t.py::other"
ADVICE = "return an Answer with its usage (tokens and cost_usd), or ask the model of the fixture rag_llm"
UNSEEN = {"rag_system": "the fixture rag_system"}


def plan(*gates: str, session: tuple[str, ...] = (), unseen: dict[str, str] = UNSEEN) -> Plan:
    """Return a plan of two testbeds: rag_system and llm answer the case of the first, llm that of the second."""
    return Plan(
        testbeds={NODE: TestbedPlan(NODE, "one", ("accuracy",), gates), OTHER: TestbedPlan(OTHER, "other", ("rr",))},
        cases={"a": ("q1", NODE, "rag_system", 0), "b": ("q1", NODE, "llm", 1), "c": ("q2", OTHER, "llm", 1)},
        facets=[{"system": "rag_system"}, {"system": "llm"}],
        session_gates=session,
        unseen=UnseenSystems(unseen),
    )


def outcome_with(usage: Usage | None, calls: Calls | None = None, system: str = "rag_system") -> Outcome:
    answer = Answer("Paris", usage=usage)
    return Outcome("a", "q1", NODE, {"system": system}, system, "scored", answer=answer, calls=calls)


def warnings_at_end(plan: Plan, *outcomes: Outcome, budget: bool = False) -> list[str]:
    return list(unseen_at_end(plan, outcomes, budget=budget))


NO_COST, COSTLY, TOKENS = Usage(latency_s=1.0), Usage(10, 2, 0.1, 1.0), Usage(10, 2, None, 1.0)


def test_only_limits_that_apply_to_an_unseen_system_warn() -> None:
    assert unseen_at_start(plan("accuracy >= 0.5", "latency_p95 <= 3"), budget=False) == []
    assert unseen_at_start(plan(session=("cost_usd[system=llm] <= 1",)), budget=False) == []
    assert unseen_at_start(plan("cost_usd <= 1", unseen={}), budget=True) == []
    head, counts = (
        "your system's calls are not seen",
        "counts only what answers of the fixture rag_system report as usage",
    )
    assert unseen_at_start(plan("cost_usd <= 1"), budget=False) == [f"{head}: cost_usd <= 1 {counts}; {ADVICE}"]
    assert unseen_at_start(plan(), budget=True) == [f"{head}: the budget {counts}; {ADVICE}"]
    (warning,) = unseen_at_start(plan("cost_usd <= 1", session=("tokens <= 9",)), budget=True)
    assert warning.startswith(f"{head}: the budget, cost_usd <= 1, tokens <= 9 count only what")


def test_the_warning_at_the_end_counts_answers_without_cost_or_tokens() -> None:
    limited_plan = plan("cost_usd <= 1", session=("tokens <= 9",))
    assert warnings_at_end(
        limited_plan,
        outcome_with(COSTLY),
        outcome_with(NO_COST),
        outcome_with(TOKENS),
        outcome_with(NO_COST, system="llm"),
    ) == [
        "your system's calls are not seen: 2 of 3 answers of the fixture rag_system report no cost "
        f"and 1 of 3 report no tokens; {ADVICE}"
    ]
    assert warnings_at_end(limited_plan, outcome_with(COSTLY)) == []
    assert warnings_at_end(plan("accuracy >= 1"), outcome_with(NO_COST)) == []


def test_a_budget_reports_uncounted_and_counted_calls() -> None:
    (warning,) = warnings_at_end(plan(), outcome_with(NO_COST), budget=True)
    assert "1 of 1 answers of the fixture rag_system report no cost, so the budget did not bound them; " in warning
    limited_note = "the budget bounded only what is seen: it counted what answers of the fixture rag_system report"
    assert warnings_at_end(plan(), outcome_with(COSTLY), budget=True) == [f"{limited_note}, after each answer"]


def test_replayed_answers_and_errors_do_not_count_as_unseen() -> None:
    replayed_outcome = outcome_with(None, Calls(calls=0))
    error_outcome = replace(outcome_with(None), answer=None, status="error")
    assert warnings_at_end(plan("cost_usd <= 1"), replayed_outcome, error_outcome) == []


def test_unseen_systems_are_part_of_the_serialised_plan() -> None:
    assert Plan.loads(plan().dumps()).unseen.systems == UNSEEN
