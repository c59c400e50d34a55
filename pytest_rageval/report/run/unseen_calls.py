"""Warn of systems whose model calls are invisible to a budget or a gate on cost or tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from pytest_rageval.analysis.gates import Gate, parse_gate
from pytest_rageval.analysis.usage import is_replayed, outcomes_with_answer, usage_value
from pytest_rageval.model.facets import in_slice
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.run.plan import Plan
from pytest_rageval.report.text.lines import few_of

__all__ = ["UNSEEN", "note_unseen", "unseen_at_end", "unseen_at_start"]

UNSEEN = "your system's calls are not seen"
"""Start of each of these warnings."""

TO_SEE = "return an Answer with its usage (tokens and cost_usd), or ask the model of the fixture rag_llm"

PARTS = {"cost_usd": "cost", "tokens": "tokens"}
"""Pseudo-metric of usage -> what an answer must report for it."""

_Case = tuple[str, str, Mapping[str, str]]
"""The testbed, system and facets of a case."""


def unseen_at_start(plan: Plan, *, budget: bool) -> list[str]:
    """Return one sentence on limits that may miss calls, before anything runs, or none."""
    cases = [(testbed, system, plan.facets[at]) for _, testbed, system, at in plan.cases.values()]
    gates = list(_cost_gates(plan, cases))
    limits = (["the budget"] if budget else []) + list(dict.fromkeys(str(gate) for gate, _ in gates))
    systems = dict.fromkeys(plan.unseen.systems if budget else (system for _, names in gates for system in names))
    if not systems:
        return []
    shown = few_of(tuple(plan.unseen.systems[system] for system in systems), 3)
    counts = "counts" if len(limits) == 1 else "count"
    return [f"{UNSEEN}: {few_of(tuple(limits), 3)} {counts} only what answers of {shown} report as usage; {TO_SEE}"]


def note_unseen(plan: Plan, outcomes: Sequence[Outcome], *, budget: bool) -> None:
    """Add the warnings of `unseen_at_end` to the plan's notes, and list them in `Plan.unseen` for a merge of shards."""
    notes = tuple(unseen_at_end(plan, outcomes, budget=budget))
    plan.unseen = replace(plan.unseen, budget=budget, notes=notes)
    plan.notes += notes


def unseen_at_end(plan: Plan, outcomes: Sequence[Outcome], *, budget: bool) -> Iterator[str]:
    """Yield for each unseen system under a limit how many of its answers report no usage, or how the budget applied.

    A replayed answer made no calls, so it is not counted.
    """
    live = [outcome for outcome in outcomes_with_answer(outcomes) if not is_replayed(outcome)]
    metrics: dict[str, dict[str, None]] = {system: {"cost_usd": None} for system in plan.unseen.systems if budget}
    for gate, systems in _cost_gates(plan, [(each.testbed, each.system, each.facets) for each in outcomes]):
        for system in systems:
            metrics.setdefault(system, {})[gate.metric] = None
    for system, required in metrics.items():
        shown = plan.unseen.systems[system]
        silent = " and ".join(_silent(required, [outcome for outcome in live if outcome.system == system], shown))
        if silent:
            unbound = ", so the budget did not bound them" if budget else ""
            yield f"{UNSEEN}: {silent}{unbound}; {TO_SEE}"
        elif budget:
            yield f"the budget bounded only what is seen: it counted what answers of {shown} report, after each answer"


def _silent(metrics: Iterable[str], outcomes: Sequence[Outcome], system: str) -> Iterator[str]:
    """Yield how many answers do not report the usage that each metric needs."""
    suffix = f" answers of {system}"
    for metric in metrics:
        unknown = sum(usage_value(metric, outcome) is None for outcome in outcomes)
        if unknown:
            yield f"{unknown} of {len(outcomes)}{suffix} report no {PARTS[metric]}"
            suffix = ""


def _cost_gates(plan: Plan, cases: Sequence[_Case]) -> Iterator[tuple[Gate, list[str]]]:
    """Yield each gate on cost or tokens that covers some of the cases of unseen systems, with these systems."""
    of_testbeds = [(gate, {nodeid}) for nodeid, testbed in plan.testbeds.items() for gate in testbed.gates]
    of_session = [(gate, plan.testbeds.keys() - plan.apart) for gate in plan.session_gates]
    for text, testbeds in (*of_testbeds, *of_session) if plan.unseen.systems else ():
        gate = parse_gate(text)
        if gate.metric in PARTS:
            covered = (
                system
                for testbed, system, facets in cases
                if testbed in testbeds and system in plan.unseen.systems and in_slice(facets, gate.beforehand)
            )
            systems = list(dict.fromkeys(covered))
            if systems:
                yield gate, systems
