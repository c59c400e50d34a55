"""Find baseline gates that can never fail, because too few independent units can change."""

from __future__ import annotations

import math
from collections.abc import Iterator

from pytest_rageval.analysis.gates import Gate, parse_gate
from pytest_rageval.analysis.units import Link, Units, links_of, units_of
from pytest_rageval.model.facets import ANY, in_slice, place_of
from pytest_rageval.report.run.plan import Plan
from pytest_rageval.report.text.lines import counted, in_units

__all__ = ["never_failing_gates"]

Cell = tuple[tuple[str, str], ...]


def never_failing_gates(plan: Plan) -> list[str]:
    """Return one sentence for each baseline gate that could not fail even if every unit got worse.

    With K units the smallest one-sided p-value is 2^-K. A gate over several cells can fail if its largest cell can.
    """
    if plan.updates or plan.shard is not None or plan.inconclusive == "fail":
        return []
    needed = math.ceil(-math.log2(plan.alpha) - 1e-9)
    sentences = []
    for scope, gate, testbeds in _baseline_gates(plan):
        cells = _cells(plan, gate, testbeds)
        if not cells:
            continue
        units, n_cases = max(cells, key=lambda cell: cell[0].n)
        if units.n >= needed:
            continue
        has = counted(n_cases, "case") + in_units(units.n if units.facet else None, units.facet)
        size = f"{has} in its largest cell" if len(cells) > 1 else has
        sentences.append(
            f"{scope}: {gate} can never fail: it has {size}, and at rag_alpha {plan.alpha:g} at least {needed} "
            "independent ones have to get worse"
        )
    return sentences


def _baseline_gates(plan: Plan) -> Iterator[tuple[str, Gate, set[str]]]:
    """Yield (scope, gate, testbeds) for each baseline gate."""
    for nodeid, testbed in plan.testbeds.items():
        for gate in map(parse_gate, testbed.gates):
            if gate.baseline:
                yield testbed.name, gate, {nodeid}
    for gate in map(parse_gate, plan.session_gates):
        if gate.baseline:
            with_metric = {nodeid for nodeid, testbed in plan.testbeds.items() if gate.metric in testbed.metrics}
            yield "session", gate, with_metric - plan.judge_testbeds


def _cells(plan: Plan, gate: Gate, testbeds: set[str]) -> list[tuple[Units, int]]:
    """Return (units, number of cases) for each cell of a gate; each system has its own cells."""
    free = [name for name, value in gate.slice.items() if value == ANY]
    cells: dict[tuple[str, Cell], dict[tuple[Link, ...], None]] = {}
    for case, testbed, system, at in plan.cases.values():
        facets = plan.facets[at]
        if testbed in testbeds and in_slice(facets, gate.static_slice):
            cell = tuple(place_of(facets, name) for name in free)
            links = links_of(case, system, facets, plan.testbeds[testbed].cluster)
            cells.setdefault((system, cell), {})[links] = None
    return [(units_of(list(links)), len({each[0] for each in links})) for links in cells.values()]
