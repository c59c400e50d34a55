"""From what was collected to the plan a report is made from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from pytest_rageval.analysis.verdicts import MetricInfo
from pytest_rageval.hooks.collected import Collected, Entry
from pytest_rageval.report.plan import Plan, TestbedPlan

__all__ = ["case_ids", "plan_of"]

_DATA_SETTINGS = ("dataset", "ability", "assembly", "passages", "noise_rate", "correct_rate", "where", "facets")


def plan_of(collected: Collected, nodes: Mapping[str, Entry]) -> Plan:
    """Return the plan of a session.

    Args:
        collected: every testbed, also those whose cases were all deselected.
        nodes: node id -> entry of each case that will run.
    """
    plan = Plan(fingerprint=_fingerprint(collected), notes=_unused_records(collected))
    plan.session_gates = tuple(str(gate) for gate, _ in collected.session_gates)
    for testbed in collected.testbeds.values():
        plan.testbeds[testbed.nodeid] = TestbedPlan(
            nodeid=testbed.nodeid,
            name=testbed.name,
            metrics=tuple(testbed.metrics),
            gates=tuple(str(gate) for gate in testbed.gates),
            generated=testbed.generated,
            asserts=testbed.asserts,
            notes=tuple(testbed.notes),
        )
        for name, metric in testbed.metrics.items():
            plan.metrics[name] = MetricInfo(metric.binary, metric.higher_is_better)
    plan.unselected = len(collected.entries) - len({entry.ordinal for entry in nodes.values()})
    ids = case_ids(collected)
    places: dict[tuple[tuple[str, str], ...], int] = {}
    for nodeid, entry in sorted(nodes.items(), key=lambda node: (node[1].ordinal, node[0])):
        key = tuple(entry.case.facets.items())
        if key not in places:
            places[key] = len(plan.facets)
            plan.facets.append(dict(entry.case.facets))
        case_id = ids[entry.source.name, entry.case.id]
        plan.cases[nodeid] = (case_id, entry.testbed.nodeid, entry.responder.name, places[key])
    return plan


def case_ids(collected: Collected) -> dict[tuple[str, str], str]:
    """Return the session-wide case id of each (dataset, instance id).

    It is the instance's own id, with the dataset before it where two datasets of the session share an id.
    """
    owners: dict[str, set[str]] = {}
    for entry in collected.entries:
        owners.setdefault(entry.case.id, set()).add(entry.source.name)
    return {
        (source, own): f"{source}:{own}" if len(sources) > 1 else own
        for own, sources in owners.items()
        for source in sources
    }


def _fingerprint(collected: Collected) -> str:
    """Return sha256 over the data files and over the settings that make cases of them."""
    digest = hashlib.sha256()
    for source in collected.sources:
        digest.update(source.name.encode())
        for path in source.files():
            digest.update(path.read_bytes())
    for testbed in collected.testbeds.values():
        settings = {name: str(getattr(testbed.settings, name)) for name in _DATA_SETTINGS}
        digest.update(json.dumps([testbed.nodeid, testbed.seed, settings], sort_keys=True).encode())
    return f"sha256:{digest.hexdigest()}"


def _unused_records(collected: Collected) -> tuple[str, ...]:
    if collected.recorded is None:
        return ()
    unused = collected.recorded.unused({name for entry in collected.entries for name in (entry.case.id, entry.name)})
    if not unused:
        return ()
    return (f"{len(unused)} recorded answers are for no case of this session, the first for {unused[0]!r}",)
