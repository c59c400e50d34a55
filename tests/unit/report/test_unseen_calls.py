"""Warnings of limits on cost that miss a system's calls."""

from __future__ import annotations

from dataclasses import replace

from pytest_rageval.model.answer import Answer, Usage
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.run.plan import Plan, TestbedPlan, UnseenSystems
from pytest_rageval.report.run.unseen_calls import unseen_at_end, unseen_at_start

NODE, OTHER = "t.py::one", "t.py::other"
TO_SEE = "return an Answer with its usage (tokens and cost_usd), or ask the model of the fixture rag_llm"
SHOWN = {"rag_system": "the fixture rag_system"}


def plan(*gates: str, session: tuple[str, ...] = (), unseen: dict[str, str] = SHOWN) -> Plan:
    """Return the plan of two testbeds; the systems rag_system and llm answer a case of the first, llm the other."""
    return Plan(
        testbeds={NODE: TestbedPlan(NODE, "one", ("accuracy",), gates), OTHER: TestbedPlan(OTHER, "other", ("rr",))},
        cases={"a": ("q1", NODE, "rag_system", 0), "b": ("q1", NODE, "llm", 1), "c": ("q2", OTHER, "llm", 1)},
        facets=[{"system": "rag_system"}, {"system": "llm"}],
        session_gates=session,
        unseen=UnseenSystems(unseen),
    )


def answered(usage: Usage | None, calls: Calls | None = None, system: str = "rag_system") -> Outcome:
    answer = Answer("Paris", usage=usage)
    return Outcome("a", "q1", NODE, {"system": system}, system, "scored", answer=answer, calls=calls)


def at_end(plan: Plan, *outcomes: Outcome, budget: bool = False) -> list[str]:
    return list(unseen_at_end(plan, outcomes, budget=budget))


SILENT, COSTLY, TOKENS = Usage(latency_s=1.0), Usage(10, 2, 0.1, 1.0), Usage(10, 2, None, 1.0)


def test_only_limits_that_cover_an_unseen_system_warn() -> None:
    assert unseen_at_start(plan("accuracy >= 0.5", "latency_p95 <= 3"), budget=False) == []
    assert unseen_at_start(plan(session=("cost_usd[system=llm] <= 1",)), budget=False) == []
    assert unseen_at_start(plan("cost_usd <= 1", unseen={}), budget=True) == []
    head, counts = (
        "your system's calls are not seen",
        "counts only what answers of the fixture rag_system report as usage",
    )
    assert unseen_at_start(plan("cost_usd <= 1"), budget=False) == [f"{head}: cost_usd <= 1 {counts}; {TO_SEE}"]
    assert unseen_at_start(plan(), budget=True) == [f"{head}: the budget {counts}; {TO_SEE}"]
    (both,) = unseen_at_start(plan("cost_usd <= 1", session=("tokens <= 9",)), budget=True)
    assert both.startswith(f"{head}: the budget, cost_usd <= 1, tokens <= 9 count only what")


def test_at_the_end_answers_that_report_nothing_are_counted() -> None:
    gated = plan("cost_usd <= 1", session=("tokens <= 9",))
    assert at_end(gated, answered(COSTLY), answered(SILENT), answered(TOKENS), answered(SILENT, system="llm")) == [
        "your system's calls are not seen: 2 of 3 answers of the fixture rag_system report no cost "
        f"and 1 of 3 report no tokens; {TO_SEE}"
    ]
    assert at_end(gated, answered(COSTLY)) == []
    assert at_end(plan("accuracy >= 1"), answered(SILENT)) == []


def test_a_budget_reports_uncounted_and_counted_calls() -> None:
    (unbound,) = at_end(plan(), answered(SILENT), budget=True)
    assert "1 of 1 answers of the fixture rag_system report no cost, so the budget did not bound them; " in unbound
    counted = "the budget bounded only what is seen: it counted what answers of the fixture rag_system report"
    assert at_end(plan(), answered(COSTLY), budget=True) == [f"{counted}, after each answer"]


def test_replayed_answers_and_errors_made_no_calls() -> None:
    replayed = answered(None, Calls(calls=0))
    failed = replace(answered(None), answer=None, status="error")
    assert at_end(plan("cost_usd <= 1"), replayed, failed) == []


def test_the_plan_keeps_the_systems_between_processes() -> None:
    assert Plan.loads(plan().dumps()).unseen.systems == SHOWN
