"""Find the gates that a session evaluates on only a part of their cases.

``-m``, paths and testbeds select a slice on purpose: their gates are complete. Everything else that drops cases (node
ids of cases, ``-k``, ``--lf``, ``--rag-limit``, a plugin that splits a suite) leaves a gate with only a part.
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
    """Return node id of a gate -> selected part of its cases, for each gate with a fixed bound and only a part.

    Args:
        config: the configuration of pytest.
        collected: the testbeds, and the items of their cases.
        running: node ids of the cases that this process runs or takes over from another run.
        plan: the testbeds and metrics of the session.
    """
    if collected.options.partial_gates == "decide":
        return {}
    items = {item.nodeid: item for item in collected.items}
    selected = {*running, *collected.other_shard_nodes}
    n_skipped_files = config.stash.get(SKIPPED_FILES, 0)
    dropped = [item for nodeid, item in items.items() if nodeid not in selected]
    dropped_early = cases_without_item(config)
    if not (dropped or dropped_early or n_skipped_files):
        return {}
    matches_marks, ordinals = _marks_filter(config.option.markexpr), set(marker_ordinals(collected.entries))
    has_lf = bool(getattr(config.option, "lf", False))  # --lf also drops whole testbeds
    dropped_cases = [
        entry
        for item in dropped
        if (entry := entry_of(item))
        and entry.ordinal in ordinals
        and (has_lf or entry.testbed.reached)
        and matches_marks(item)
    ]
    dropped_cases += [entry for entry in dropped_early if entry.ordinal in ordinals]
    cases = [entry for nodeid in selected if nodeid in items and (entry := entry_of(items[nodeid]))]
    parts: dict[str, SelectedPart | None] = {}
    for nodeid in plan.testbeds:
        testbed_cases, testbed_dropped = _in_testbeds((nodeid,), cases), _in_testbeds((nodeid,), dropped_cases)
        for gate in collected.testbeds[nodeid].gates:
            parts[testbed_node(nodeid, gate)] = _part(gate, testbed_cases, testbed_dropped, 0)
    for gate, _ in collected.session_gates:
        nodes = [each.nodeid for each in collected.testbeds.values() if _covers(gate, each, plan)]
        gate_cases, gate_dropped = _in_testbeds(nodes, cases), _in_testbeds(nodes, dropped_cases)
        parts[session_node(gate)] = _part(gate, gate_cases, gate_dropped, n_skipped_files)
    return {node: part for node, part in parts.items() if part is not None}


def _part(gate: Gate, cases: Sequence[Entry], dropped: Sequence[Entry], n_skipped_files: int) -> SelectedPart | None:
    """Return the selected part of a gate's cases; None if all or none are selected, or for a baseline gate."""
    if gate.baseline or not (dropped or n_skipped_files):
        return None
    n, n_dropped = _count(gate, cases), _count(gate, dropped)
    return SelectedPart(n, n + n_dropped, n_skipped_files) if n and (n_dropped or n_skipped_files) else None


def _count(gate: Gate, entries: Iterable[Entry]) -> int:
    """Return the number of cases in the slice of a gate."""
    where = gate.static_slice
    return sum(in_slice(entry.case.facets, where) for entry in entries)


def _in_testbeds(testbeds: Collection[str], entries: Iterable[Entry]) -> list[Entry]:
    return [entry for entry in entries if entry.testbed.nodeid in testbeds]


def _covers(gate: Gate, testbed: Testbed, plan: Plan) -> bool:
    """Return whether a session gate covers a testbed, even one that ``--lf`` dropped."""
    if testbed.nodeid in plan.testbeds:
        return covers(plan, gate, testbed.nodeid)
    return not testbed.labelled and (gate.metric in testbed.metrics or gate.metric in PSEUDO_METRICS)


def _marks_filter(expression: str) -> Callable[[pytest.Item], bool]:
    """Return a function that checks whether an item matches ``-m``."""
    if not expression:
        return lambda item: True
    compiled = Expression.compile(expression)
    return lambda item: compiled.evaluate(MarkMatcher.from_markers(item.iter_markers()))
