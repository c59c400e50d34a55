"""False alarms and detected losses of gates in simulated sessions."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from pytest_rageval.analysis.baseline.regression import AlphaPer
from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.model.outcome import Outcome, Score
from pytest_rageval.report.run.gate_results import evaluate
from pytest_rageval.report.run.plan import Plan, TestbedPlan
from pytest_rageval.report.run.snapshots import baseline_for_gates, snapshot_of_outcomes

GATES, CASES, SESSIONS = 10, 30, 20


def plan_of(per: AlphaPer) -> Plan:
    """Return a session with one testbed per gate."""
    nodes = [f"test_it.py::test_{at}" for at in range(GATES)]
    testbeds = {node: TestbedPlan(node, node[12:], ("accuracy",), ("accuracy >= baseline",)) for node in nodes}
    return Plan(testbeds=testbeds, metrics={"accuracy": MetricInfo(binary=True)}, alpha_per=per)


def outcomes_of(plan: Plan, draw: random.Random) -> Iterator[Outcome]:
    """Yield the outcomes of a system that is right in seven of ten cases."""
    for testbed in plan.testbeds:
        for at in range(CASES):
            scores = {"accuracy": Score(float(draw.random() < 0.7))}
            yield Outcome(f"{testbed}[q{at}]", f"{testbed}-{at}", testbed, {}, "mine", "scored", scores=scores)


def session_fails(seed: int, per: AlphaPer, *, broken: bool = False) -> bool:
    """Return whether a session fails; ``broken`` makes the system wrong in all cases of the first testbed."""
    plan, draw = plan_of(per), random.Random(seed)
    before, now = list(outcomes_of(plan, draw)), list(outcomes_of(plan, draw))
    if broken:
        now[:CASES] = [replace(outcome, scores={"accuracy": Score(0.0)}) for outcome in now[:CASES]]
    baseline, after = (snapshot_of_outcomes(plan, run, set(), "2026-01-02T03:04:05+00:00") for run in (before, now))
    results = evaluate(plan, now, Counter(), baseline_for_gates(baseline, after, plan, (), ()), interrupted=False)
    return any(gate.result.status == "failed" for gate in results)


def test_an_unchanged_system_rarely_fails_a_session_of_ten_gates() -> None:
    alpha_per_session = sum(session_fails(seed, "session") for seed in range(SESSIONS))
    alpha_per_gate = sum(session_fails(seed, "gate") for seed in range(SESSIONS))
    assert alpha_per_session <= 0.05 * SESSIONS
    assert alpha_per_gate >= 0.15 * SESSIONS


def test_a_clear_loss_fails_a_session_of_ten_gates() -> None:
    assert all(session_fails(seed, "session", broken=True) for seed in range(5))
