"""Warnings about systems whose model calls a budget or a gate on cost or tokens does not see."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pytest_rageval.analysis.gates import Gate, parse_gate
from pytest_rageval.analysis.usage import answered, is_replayed, used
from pytest_rageval.model.facets import matches
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.run.plan import Plan
from pytest_rageval.report.text.lines import few_of

__all__ = ["UNSEEN", "unseen_at_end", "unseen_at_start"]

UNSEEN = "your system's calls are not seen"
"""How each of these warnings begins."""

TO_SEE = "return an Answer with its usage (tokens and cost_usd), or ask the model of the fixture rag_llm"

PARTS = {"cost_usd": "cost", "tokens": "tokens"}
"""The pseudo-metrics of what calls take, and what an answer has to report for them."""


def unseen_at_start(plan: Plan, *, budget: bool) -> list[str]:
    """Return what limits may not see, before anything runs: one sentence, or none."""
    gates = list(_cost_gates(plan))
    limits = (["the budget"] if budget else []) + list(dict.fromkeys(str(gate) for gate, _ in gates))
    systems = dict.fromkeys(plan.unseen if budget else (system for _, found in gates for system in found))
    if not systems:
        return []
    shown = few_of(tuple(plan.unseen[system] for system in systems), 3)
    counts = "counts" if len(limits) == 1 else "count"
    return [f"{UNSEEN}: {few_of(tuple(limits), 3)} {counts} only what answers of {shown} report as usage; {TO_SEE}"]


def unseen_at_end(plan: Plan, outcomes: Iterable[Outcome], *, budget: bool) -> Iterator[str]:
    """Yield for each unseen system under a limit how many of its answers report nothing, or how the budget bound it.

    A replayed answer took no calls, so it is not counted.
    """
    asked = [outcome for outcome in answered(outcomes) if not is_replayed(outcome)]
    metrics: dict[str, dict[str, None]] = {system: {"cost_usd": None} for system in plan.unseen if budget}
    for gate, systems in _cost_gates(plan):
        for system in systems:
            metrics.setdefault(system, {})[gate.metric] = None
    for system, watched in metrics.items():
        shown = plan.unseen[system]
        silent = " and ".join(_silent(watched, [outcome for outcome in asked if outcome.system == system], shown))
        if silent:
            unbound = ", so the budget did not bound them" if budget else ""
            yield f"{UNSEEN}: {silent}{unbound}; {TO_SEE}"
        elif budget:
            yield f"the budget bounded only what is seen: it counted what answers of {shown} report, after each answer"


def _silent(metrics: Iterable[str], outcomes: Sequence[Outcome], system: str) -> Iterator[str]:
    """Yield how many answers do not report what each metric needs."""
    of_system = f" answers of {system}"
    for metric in metrics:
        unknown = sum(used(metric, outcome) is None for outcome in outcomes)
        if unknown:
            yield f"{unknown} of {len(outcomes)}{of_system} report no {PARTS[metric]}"
            of_system = ""


def _cost_gates(plan: Plan) -> Iterator[tuple[Gate, list[str]]]:
    """Yield each gate on cost or tokens that covers cases of unseen systems, with these systems."""
    of_testbeds = [(gate, {nodeid}) for nodeid, testbed in plan.testbeds.items() for gate in testbed.gates]
    of_session = [(gate, plan.testbeds.keys() - plan.apart) for gate in plan.session_gates]
    for text, testbeds in (*of_testbeds, *of_session) if plan.unseen else ():
        gate = parse_gate(text)
        if gate.metric in PARTS:
            covered = (
                system
                for _, testbed, system, at in plan.cases.values()
                if testbed in testbeds and system in plan.unseen and matches(plan.facets[at], gate.beforehand)
            )
            systems = list(dict.fromkeys(covered))
            if systems:
                yield gate, systems
