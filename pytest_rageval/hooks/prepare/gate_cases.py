"""Find the part of each gate's cases that a session selects.

``-m``, paths and testbeds select a slice on purpose. Everything else that drops cases (node ids of cases, ``-k``,
``--lf``, ``--rag-limit``, a plugin that splits a suite) selects a part by accident.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING

import pytest
from _pytest.mark import MarkMatcher
from _pytest.mark.expression import Expression

from pytest_rageval.analysis.decisions.selected_part import SelectedPart
from pytest_rageval.analysis.gates import PSEUDO_METRICS, Gate
from pytest_rageval.hooks.collect.early_selection import cases_without_item
from pytest_rageval.hooks.collect.keys import SKIPPED_FILES
from pytest_rageval.hooks.collect.selection import marker_ordinals
from pytest_rageval.hooks.collect.testbed import Entry
from pytest_rageval.model.facets import in_slice
from pytest_rageval.report.run.gate_results import covers, session_node, testbed_node

if TYPE_CHECKING:
    from pytest_rageval.hooks.collect.session import Collected
    from pytest_rageval.hooks.collect.testbed import Testbed
    from pytest_rageval.report.run.plan import Plan

__all__ = ["entry_of", "parts_of_gates"]


def entry_of(item: object) -> Entry | None:
    """Return the case of a test item, even before the item is collected."""
    callspec = getattr(item, "callspec", None)
    entry = None if callspec is None else callspec.params.get("rag")
    return entry if isinstance(entry, Entry) else None


def parts_of_gates(
    config: pytest.Config, collected: Collected, running: Collection[str], plan: Plan
) -> dict[str, SelectedPart]:
    """Return gate's node id -> selected part of its cases, for each fixed-bound gate over only a part.

    Args:
        config: pytest's.
        collected: every testbed, and every item made for its cases.
        running: node ids of the cases that this process runs or takes over from another run.
        plan: the session's testbeds and metrics.
    """
    if collected.options.partial_gates == "decide":
        return {}
    made = {item.nodeid: item for item in collected.items}
    selected = {*running, *collected.other_shard_nodes}
    files = config.stash.get(SKIPPED_FILES, 0)
    dropped = [item for nodeid, item in made.items() if nodeid not in selected]
    early = cases_without_item(config)
    if not (dropped or early or files):
        return {}
    matches_marks, own = _marks_filter(config.option.markexpr), set(marker_ordinals(collected.entries))
    has_lf = bool(getattr(config.option, "lf", False))  # --lf also drops whole testbeds
    lost_cases = [
        entry
        for item in dropped
        if (entry := entry_of(item))
        and entry.ordinal in own
        and (has_lf or entry.testbed.reached)
        and matches_marks(item)
    ]
    lost_cases += [entry for entry in early if entry.ordinal in own]
    cases = [entry for nodeid in selected if nodeid in made and (entry := entry_of(made[nodeid]))]
    parts: dict[str, SelectedPart | None] = {}
    for nodeid in plan.testbeds:
        mine, lost = _of((nodeid,), cases), _of((nodeid,), lost_cases)
        for gate in collected.testbeds[nodeid].gates:
            parts[testbed_node(nodeid, gate)] = _part(gate, mine, lost, 0)
    for gate, _ in collected.session_gates:
        nodes = [each.nodeid for each in collected.testbeds.values() if _is_over(gate, each, plan)]
        parts[session_node(gate)] = _part(gate, _of(nodes, cases), _of(nodes, lost_cases), files)
    return {node: part for node, part in parts.items() if part is not None}


def _part(gate: Gate, cases: Sequence[Entry], lost: Sequence[Entry], files: int) -> SelectedPart | None:
    """Return the selected part of a gate's cases; None if it is all or none, or for a baseline gate."""
    if gate.baseline or not (lost or files):
        return None
    n, n_lost = _count(gate, cases), _count(gate, lost)
    return SelectedPart(n, n + n_lost, files) if n and (n_lost or files) else None


def _count(gate: Gate, entries: Iterable[Entry]) -> int:
    where = gate.beforehand
    return sum(in_slice(entry.case.facets, where) for entry in entries)


def _of(testbeds: Collection[str], entries: Iterable[Entry]) -> list[Entry]:
    return [entry for entry in entries if entry.testbed.nodeid in testbeds]


def _is_over(gate: Gate, testbed: Testbed, plan: Plan) -> bool:
    """Return whether a session gate is over a testbed, even one that ``--lf`` dropped."""
    if testbed.nodeid in plan.testbeds:
        return covers(plan, gate, testbed.nodeid)
    return not testbed.labelled and (gate.metric in testbed.metrics or gate.metric in PSEUDO_METRICS)


def _marks_filter(expression: str) -> Callable[[pytest.Item], bool]:
    """Return a function that checks whether an item matches ``-m``."""
    if not expression:
        return lambda item: True
    compiled = Expression.compile(expression)
    return lambda item: compiled.evaluate(MarkMatcher.from_markers(item.iter_markers()))
