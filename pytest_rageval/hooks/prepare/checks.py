"""What can be checked only when all is collected: session gates, the matrix, named systems, recorded answers."""

from __future__ import annotations

from pytest_rageval.analysis.gates import PSEUDO_METRICS, Gate, check_gate
from pytest_rageval.errors import SettingError, UnknownNameError, found
from pytest_rageval.hooks.collect.metrics_and_gates import has_facet, no_such_cluster
from pytest_rageval.hooks.collect.session import Collected
from pytest_rageval.hooks.config.baseline import check_baseline, refuse_baseline
from pytest_rageval.hooks.prepare.judge_trust import trust_held
from pytest_rageval.hooks.prepare.recorded_answers import ignored_keys
from pytest_rageval.model.facets import DIALOGUE, matches

__all__ = ["check_session"]


def check_session(collected: Collected) -> None:
    """Check what was collected as a whole; raises `SettingError`.

    Systems that are named are loaded. A metric that a session gate or ``--rag-matrix`` names and no testbed
    computes is computed by all; not so that of a standing gate on a baseline in a part of the project, as what has it
    is elsewhere, and nothing here would have a past.
    """
    options = collected.options
    collected.baseline = check_baseline(options.baseline)
    collected.catalog.retrievers.get(options.retriever, "rag_retriever")
    _check_cluster(collected)
    named = (entry.responder.name for entry in collected.entries if entry.responder.named)
    collected.named.load(named, collected.catalog.systems)
    for gate, where in collected.session_gates:
        _compute_for(collected, gate, where)
    facets = set().union(*(testbed.facets for testbed in collected.testbeds.values()))
    for gate, where in collected.session_gates:
        _check_gate(collected, gate, where, facets)
    if options.matrix is not None:
        _compute(collected, options.matrix, "--rag-matrix")
    for option, name in (("--rag-rows", options.rows), ("--rag-cols", options.cols)):
        if name is not None and name not in facets:
            raise UnknownNameError("facet", name, facets, option)
    collected.notes += ignored_keys(collected)
    collected.trust = trust_held(collected)


def _check_cluster(collected: Collected) -> None:
    """Refuse a cluster of the ini whose facet no case has; warn of it if only a part of the project is collected."""
    cluster, cases = collected.options.cluster, [entry.case for entry in collected.entries]
    if cluster == DIALOGUE or has_facet(cases, cluster):
        return
    error = no_such_cluster(cluster, collected.options.cluster_origin, cases)
    if not collected.options.narrowed:
        raise error
    collected.notes.append(f"{error} Units are cases here, unless tests outside these paths have it")


def _check_gate(collected: Collected, gate: Gate, where: str, facets: set[str]) -> None:
    """Refuse a gate that no case can meet, unless it is a standing one and the run is but a part of the project."""
    standing = _is_standing(collected, where)
    check_gate(gate, collected.catalog.metrics, facets | set(gate.slice) if standing else facets, where)
    refuse_baseline(gate, collected.options.baseline, where)
    absent = standing and not _is_computed(collected, gate.metric)
    if not absent and any(matches(entry.case.facets, gate.beforehand) for entry in collected.entries):
        return
    if not standing:
        raise SettingError(f"{where}: gate {found(str(gate))} matches no case of this session")
    collected.unmatched.append(gate)


def _compute_for(collected: Collected, gate: Gate, where: str) -> None:
    if gate.baseline and _is_standing(collected, where):
        return
    try:
        _compute(collected, gate.metric, where)
    except UnknownNameError as error:
        known = [*error.known, *PSEUDO_METRICS]
        raise UnknownNameError("metric", gate.metric, known, f"{where}: gate {found(str(gate))}") from None


def _is_standing(collected: Collected, where: str) -> bool:
    """Return whether a gate is one of the ini, and the run may be but a part of what it is for."""
    return where == "rag_gates" and collected.options.narrowed


def _is_computed(collected: Collected, name: str) -> bool:
    return name in PSEUDO_METRICS or any(name in testbed.metrics for testbed in collected.testbeds.values())


def _compute(collected: Collected, name: str, where: str) -> None:
    if name not in PSEUDO_METRICS:
        metric = collected.catalog.metrics.get(name, where)
        if not _is_computed(collected, name):
            for testbed in collected.testbeds.values():
                testbed.compute(name, metric)
