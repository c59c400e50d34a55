"""Evaluate the gates of a plan over the outcomes that they cover."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pytest_rageval.analysis.baseline.regression import GateBaseline
from pytest_rageval.analysis.decisions.decide import decide
from pytest_rageval.analysis.decisions.judge_bias import fail_biased
from pytest_rageval.analysis.decisions.selected_part import not_decided
from pytest_rageval.analysis.decisions.verdicts import SESSION, GateResult, MeasuredGate, measure
from pytest_rageval.analysis.gates import PSEUDO_METRICS, Gate, parse_gate
from pytest_rageval.analysis.people.bias import BIASED, JudgeBias
from pytest_rageval.model.facets import ANY
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.run import summary_data
from pytest_rageval.report.run.plan import Plan

__all__ = ["NamedGate", "covers", "evaluate", "reason_of", "session_node", "testbed_node", "ungated_testbeds"]


@dataclass(frozen=True, slots=True)
class NamedGate:
    """The result of a gate, with the node id that reports show for the gate."""

    nodeid: str
    result: GateResult


def evaluate(
    plan: Plan,
    outcomes: Sequence[Outcome],
    unfinished: Counter[str],
    against: GateBaseline | None,
    biases: Sequence[JudgeBias] = (),
    *,
    interrupted: bool,
) -> list[NamedGate]:
    """Return the result of each gate: gates of testbeds first, then session gates.

    All gates are measured before any is decided, because baseline gates are decided together.

    Args:
        plan: the session's plan.
        outcomes: the session's outcomes, in data order.
        unfinished: testbed -> number of cases without an outcome.
        against: what baseline gates compare with, or None.
        biases: the bias of each judge and system against people; a biased judge fails the gates on its scores.
        interrupted: whether the user stopped the session; then every gate is skipped.
    """
    groups = summary_data.outcomes_by_testbed(outcomes)

    def measure_gate(
        node: str, gate: Gate, scope: str, covered: Sequence[Outcome], n_unfinished: int
    ) -> GateResult | MeasuredGate:
        reason = f"this is {plan.shard}; rageval merge decides it" if plan.shard else ""
        reason = "the session was interrupted" if interrupted else reason
        if reason:
            return GateResult(gate, scope, "skipped", slice=gate.slice, reason=reason)
        if (result := not_decided(gate, scope, plan.partial.get(node), plan.partial_gates)) is not None:
            return result
        several = "system" not in gate.slice and len({outcome.system for outcome in covered}) > 1
        # systems are never averaged
        cell_gate = replace(gate, slice={**gate.slice, "system": ANY}) if several else gate
        gate_result = measure(cell_gate, scope, covered, plan.metrics, n_unfinished, against, plan.min_compared or 0)
        judge = plan.metrics[gate.metric].judge if gate.metric in plan.metrics else ""
        biased = _biased_systems(judge, biases)
        return fail_biased(gate_result, biased, covered) if biased else gate_result

    nodes: list[tuple[str, Gate]] = []
    measured: list[GateResult | MeasuredGate] = []
    for nodeid, testbed in plan.testbeds.items():
        for text in testbed.gates:
            gate, node = parse_gate(text), testbed_node(nodeid, text)
            nodes.append((node, gate))
            measured.append(measure_gate(node, gate, testbed.name, groups.get(nodeid, []), unfinished[nodeid]))
    for text in plan.session_gates:
        gate, node = parse_gate(text), session_node(text)
        nodes.append((node, gate))
        testbeds = [nodeid for nodeid in plan.testbeds if covers(plan, gate, nodeid)]
        covered_outcomes = [outcome for nodeid in testbeds for outcome in groups.get(nodeid, ())]
        result = measure_gate(node, gate, SESSION, covered_outcomes, sum(unfinished[nodeid] for nodeid in testbeds))
        if text in plan.unmatched_gates and isinstance(result, GateResult):
            result = replace(result, reason="no case of this session matches it")
        measured.append(result)
    results = zip(nodes, decide(measured, against), strict=True)
    return [NamedGate(nodeid, replace(result, gate=gate)) for (nodeid, gate), result in results]


def _biased_systems(judge: str, biases: Sequence[JudgeBias]) -> dict[str, tuple[str, float, int]]:
    """Return system -> (judge, bias, number of labelled answers) of the systems for which a judge is biased."""
    return {
        each.system: (judge, each.bias, each.n)
        for each in biases
        if each.judge == judge and each.verdict == BIASED and each.bias is not None
    }


def reason_of(result: GateResult, *, texts: bool) -> str:
    """Return why a gate failed or was skipped; "" if it holds.

    Without texts, the reason has no cause, because a cause may quote the data.
    """
    return (result.reason or "") if texts else result.bare_reason


def ungated_testbeds(plan: Plan) -> list[str]:
    """Return the names of testbeds that no gate and no assertion can fail."""
    session = [parse_gate(text) for text in plan.session_gates]
    return [
        testbed.name
        for nodeid, testbed in plan.testbeds.items()
        if not (testbed.gates or testbed.asserts or testbed.labelled)
        and not any(covers(plan, gate, nodeid) for gate in session)
    ]


def testbed_node(testbed: str, gate: object) -> str:
    """Return the node id under which a testbed's gate is reported."""
    return f"{testbed}[gate: {gate}]"


def session_node(gate: object) -> str:
    """Return the node id under which a session gate is reported."""
    return f"rag::{SESSION}[gate: {gate}]"


def covers(plan: Plan, gate: Gate, testbed: str) -> bool:
    """Return whether a session gate covers a testbed.

    It does if the testbed computes the gate's metric, or if the metric needs only outcomes, such as ``error_rate``.
    """
    if testbed in plan.judge_testbeds:
        return False
    return gate.metric in PSEUDO_METRICS or gate.metric in plan.testbeds[testbed].metrics
