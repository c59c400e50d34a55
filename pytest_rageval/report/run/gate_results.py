"""The gates of a plan, each over the outcomes that it covers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pytest_rageval.analysis.decisions import decide
from pytest_rageval.analysis.gates import PSEUDO_METRICS, Gate, parse_gate
from pytest_rageval.analysis.partial import not_decided
from pytest_rageval.analysis.regression import Against
from pytest_rageval.analysis.verdicts import SESSION, GateResult, Undecided, measure
from pytest_rageval.model.facets import ANY
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.run import summary_data
from pytest_rageval.report.run.plan import Plan

__all__ = ["NamedGate", "covers", "evaluated", "reason_of", "session_node", "testbed_node", "ungated"]


@dataclass(frozen=True, slots=True)
class NamedGate:
    """A gate's result with the node id it is reported under."""

    nodeid: str
    result: GateResult


def evaluated(
    plan: Plan, outcomes: Sequence[Outcome], unfinished: Counter[str], against: Against | None, *, interrupted: bool
) -> list[NamedGate]:
    """Return what becomes of each gate: those of testbeds, then those over the session.

    All are measured first, because baseline gates are decided together.

    Args:
        plan: what was to be run.
        outcomes: what came of it, in the order of the data.
        unfinished: how many cases of each testbed have no outcome.
        against: what baseline gates compare with, or None.
        interrupted: whether the user cut the session short, so that nothing is decided.
    """
    groups = summary_data.groups(outcomes)

    def measured(node: str, gate: Gate, scope: str, mine: Sequence[Outcome], left: int) -> GateResult | Undecided:
        why = f"this is {plan.shard}; rageval merge decides it" if plan.shard else ""
        why = "the session was interrupted" if interrupted else why
        if why:
            return GateResult(gate, scope, "skipped", slice=gate.slice, reason=why)
        if (result := not_decided(gate, scope, plan.partial.get(node), plan.partial_gates)) is not None:
            return result
        apart = "system" not in gate.slice and len({outcome.system for outcome in mine}) > 1
        each = replace(gate, slice={**gate.slice, "system": ANY}) if apart else gate  # systems are never averaged
        return measure(each, scope, mine, plan.metrics, left, against)

    named: list[tuple[str, Gate]] = []
    gates: list[GateResult | Undecided] = []
    for nodeid, testbed in plan.testbeds.items():
        for text in testbed.gates:
            gate, node = parse_gate(text), testbed_node(nodeid, text)
            named.append((node, gate))
            gates.append(measured(node, gate, testbed.name, groups.get(nodeid, []), unfinished[nodeid]))
    for text in plan.session_gates:
        gate, node = parse_gate(text), session_node(text)
        named.append((node, gate))
        covered = [nodeid for nodeid in plan.testbeds if covers(plan, gate, nodeid)]
        mine = [outcome for nodeid in covered for outcome in groups.get(nodeid, ())]
        each = measured(node, gate, SESSION, mine, sum(unfinished[nodeid] for nodeid in covered))
        if text in plan.unmatched_gates and isinstance(each, GateResult):
            each = replace(each, reason="no case of this session matches it")
        gates.append(each)
    results = zip(named, decide(gates, against), strict=True)
    return [NamedGate(nodeid, replace(result, gate=gate)) for (nodeid, gate), result in results]


def reason_of(result: GateResult, *, texts: bool) -> str:
    """Return why a gate failed or was skipped, "" where it holds; without texts the cause, which may quote, is cut."""
    return (result.reason or "") if texts else result.bare_reason


def ungated(plan: Plan) -> list[str]:
    """Return the names of testbeds that no gate and no assertion decides."""
    session = [parse_gate(text) for text in plan.session_gates]
    return [
        testbed.name
        for nodeid, testbed in plan.testbeds.items()
        if not (testbed.gates or testbed.asserts or testbed.labelled)
        and not any(covers(plan, gate, nodeid) for gate in session)
    ]


def testbed_node(testbed: str, gate: object) -> str:
    """Return the node id that a testbed's gate is reported under."""
    return f"{testbed}[gate: {gate}]"


def session_node(gate: object) -> str:
    """Return the node id that a gate over the session is reported under."""
    return f"rag::{SESSION}[gate: {gate}]"


def covers(plan: Plan, gate: Gate, testbed: str) -> bool:
    """Return whether a session gate is over a testbed: its metric is computed there, or counted anywhere."""
    if testbed in plan.apart:
        return False
    return gate.metric in PSEUDO_METRICS or gate.metric in plan.testbeds[testbed].metrics
