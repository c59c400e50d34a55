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
"""Start of each warning about unseen calls."""

ADVICE = "return an Answer with its usage (tokens and cost_usd), or ask the model of the fixture rag_llm"

USAGE_WORDS = {"cost_usd": "cost", "tokens": "tokens"}
"""Pseudo-metric of usage -> the word for it in a warning."""

_Case = tuple[str, str, Mapping[str, str]]
"""The testbed, system and facets of a case."""


def unseen_at_start(plan: Plan, *, budget: bool) -> list[str]:
    """Return a warning, before anything runs, about budgets and gates that may miss calls; empty if none does."""
    cases = [(testbed, system, plan.facets[at]) for _, testbed, system, at in plan.cases.values()]
    gates = list(_cost_gates(plan, cases))
    limits = (["the budget"] if budget else []) + list(dict.fromkeys(str(gate) for gate, _ in gates))
    systems = dict.fromkeys(plan.unseen.systems if budget else (system for _, names in gates for system in names))
    if not systems:
        return []
    shown = few_of(tuple(plan.unseen.systems[system] for system in systems), 3)
    counts = "counts" if len(limits) == 1 else "count"
    return [f"{UNSEEN}: {few_of(tuple(limits), 3)} {counts} only what answers of {shown} report as usage; {ADVICE}"]


def note_unseen(plan: Plan, outcomes: Sequence[Outcome], *, budget: bool) -> None:
    """Add the warnings of `unseen_at_end` to the plan's notes, and to `Plan.unseen` for a merge of shards."""
    notes = tuple(unseen_at_end(plan, outcomes, budget=budget))
    plan.unseen = replace(plan.unseen, budget=budget, notes=notes)
    plan.notes += notes


def unseen_at_end(plan: Plan, outcomes: Sequence[Outcome], *, budget: bool) -> Iterator[str]:
    """Yield a warning for each unseen system that a budget or a gate on cost or tokens covers.

    The warning counts the answers that report no usage. If all report it, it says what the budget counted. Replayed
    answers made no calls, so they are not counted.
    """
    live = [outcome for outcome in outcomes_with_answer(outcomes) if not is_replayed(outcome)]
    metrics: dict[str, dict[str, None]] = {system: {"cost_usd": None} for system in plan.unseen.systems if budget}
    for gate, systems in _cost_gates(plan, [(each.testbed, each.system, each.facets) for each in outcomes]):
        for system in systems:
            metrics.setdefault(system, {})[gate.metric] = None
    for system, required in metrics.items():
        shown = plan.unseen.systems[system]
        missing = " and ".join(
            _missing_usage(required, [outcome for outcome in live if outcome.system == system], shown)
        )
        if missing:
            unlimited = ", so the budget did not bound them" if budget else ""
            yield f"{UNSEEN}: {missing}{unlimited}; {ADVICE}"
        elif budget:
            yield f"the budget bounded only what is seen: it counted what answers of {shown} report, after each answer"


def _missing_usage(metrics: Iterable[str], outcomes: Sequence[Outcome], system: str) -> Iterator[str]:
    """Yield how many answers do not report the usage that each metric needs."""
    suffix = f" answers of {system}"
    for metric in metrics:
        unknown = sum(usage_value(metric, outcome) is None for outcome in outcomes)
        if unknown:
            yield f"{unknown} of {len(outcomes)}{suffix} report no {USAGE_WORDS[metric]}"
            suffix = ""


def _cost_gates(plan: Plan, cases: Sequence[_Case]) -> Iterator[tuple[Gate, list[str]]]:
    """Yield each gate on cost or tokens that covers cases of unseen systems, with these systems."""
    of_testbeds = [(gate, {nodeid}) for nodeid, testbed in plan.testbeds.items() for gate in testbed.gates]
    of_session = [(gate, plan.testbeds.keys() - plan.judge_testbeds) for gate in plan.session_gates]
    for text, testbeds in (*of_testbeds, *of_session) if plan.unseen.systems else ():
        gate = parse_gate(text)
        if gate.metric in USAGE_WORDS:
            covered = (
                system
                for testbed, system, facets in cases
                if testbed in testbeds and system in plan.unseen.systems and in_slice(facets, gate.static_slice)
            )
            systems = list(dict.fromkeys(covered))
            if systems:
                yield gate, systems
