"""Check the collected session: its gates, matrix, named systems and recorded answers."""

from __future__ import annotations

from pytest_rageval.analysis.gates import PSEUDO_METRICS, Gate, check_gate
from pytest_rageval.errors import MissingDependencyError, SettingError, UnknownNameError, short_repr
from pytest_rageval.hooks.collect.metrics_and_gates import (
    has_facet,
    may_lack_answers,
    no_such_cluster,
    refuse_stable_of_originals,
)
from pytest_rageval.hooks.collect.session import Collected
from pytest_rageval.hooks.collect.workflows import check_workflows
from pytest_rageval.hooks.config.baseline import load_baseline, refuse_baseline
from pytest_rageval.hooks.config.options import Options
from pytest_rageval.hooks.prepare.embedded_model import check_embedded
from pytest_rageval.hooks.prepare.judge_trust import required_trust
from pytest_rageval.hooks.prepare.recorded_answers import ignored_keys
from pytest_rageval.metrics.judges.people import corrected_metric
from pytest_rageval.model.facets import DIALOGUE, in_slice
from pytest_rageval.trace.otel.live import OFF, OTEL, has_sdk

__all__ = ["check_session"]


def check_session(collected: Collected) -> None:
    """Check the whole session, and load the named systems.

    If a session gate or ``--rag-matrix`` names a metric that no testbed computes, all testbeds compute it. Exception:
    a baseline gate of the ini, if only a part of the project runs. Its metric belongs to testbeds outside of this part,
    and the cases here have no baseline value for it.

    Raises:
        RagEvalError: a setting is invalid, or does not fit the collected cases.
    """
    options = collected.options
    _check_traces(options)
    collected.baseline = load_baseline(options.baseline)
    collected.catalog.retrievers.get(options.retriever, "rag_retriever")
    _check_cluster(collected)
    entries = (*collected.entries, *collected.request_entries)
    systems = (entry.responder.kind for entry in entries if entry.responder.named)
    collected.named.load(systems, collected.catalog.systems, options.named_systems)
    check_embedded(collected)
    check_workflows(collected)
    if options.environments:
        from pytest_rageval.hooks.prepare.environments import check_environments

        check_environments(collected)
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
    collected.trust = required_trust(collected)


def _check_traces(options: Options) -> None:
    """Refuse contradictory trace settings, and OpenTelemetry traces without its SDK."""
    if options.otel and options.traces == OFF:
        raise SettingError("--rag-otel and rag_traces = off exclude each other; give one of them", code="RAG103")
    if options.trace_mode == OTEL and not has_sdk():
        raise MissingDependencyError("--rag-otel" if options.otel else "rag_traces = otel", "otel")


def _check_cluster(collected: Collected) -> None:
    """Refuse a cluster facet that no case has; only warn if a part of the project runs."""
    cluster, cases = collected.options.cluster, [entry.case for entry in collected.entries]
    if cluster == DIALOGUE or has_facet(cases, cluster):
        return
    error = no_such_cluster(cluster, collected.options.cluster_origin, cases)
    if not collected.options.narrowed:
        raise error
    collected.notes.append(f"{error} Units are cases here, unless tests outside these paths have it")


def _check_gate(collected: Collected, gate: Gate, where: str, facets: set[str]) -> None:
    """Refuse a gate that matches no case, unless the ini sets it and a part of the project runs."""
    may_miss_cases = _may_miss_cases(collected, where)
    check_gate(gate, collected.catalog.metrics, facets | set(gate.slice) if may_miss_cases else facets, where)
    refuse_baseline(gate, collected.options.baseline, where)
    refuse_stable_of_originals(gate, where)
    lacks_metric = may_miss_cases and not _is_computed(collected, gate.metric)
    if not lacks_metric and any(in_slice(entry.case.facets, gate.static_slice) for entry in collected.entries):
        return
    if may_lack_answers(gate, collected.testbeds.values()):
        return
    if not may_miss_cases:
        raise SettingError(f"{where}: gate {short_repr(str(gate))} matches no case of this session", code="RAG112")
    collected.unmatched.append(gate)


def _compute_for(collected: Collected, gate: Gate, where: str) -> None:
    """Let all testbeds compute the metric of a session gate; raise `UnknownNameError` if there is none of its name."""
    if gate.baseline and _may_miss_cases(collected, where):
        return
    try:
        _compute(collected, gate.metric, where)
    except UnknownNameError as error:
        known = [*error.known, *PSEUDO_METRICS]
        place = f"{where}: gate {short_repr(str(gate))}"
        raise UnknownNameError("metric", gate.metric, known, place, error.meant) from None


def _may_miss_cases(collected: Collected, where: str) -> bool:
    """Return whether a gate's cases may be outside of this run: the ini sets it, and a part of the project runs."""
    return where == "rag_gates" and collected.options.narrowed


def _is_computed(collected: Collected, name: str) -> bool:
    return name in PSEUDO_METRICS or any(name in testbed.metrics for testbed in collected.testbeds.values())


def _compute(collected: Collected, name: str, where: str) -> None:
    """Let all testbeds compute a metric, unless one of them already does; also the metric that it corrects."""
    if name not in PSEUDO_METRICS:
        metric = collected.catalog.metrics.get(name, where)
        if inner := corrected_metric(name):
            _compute(collected, inner, where)
        if not _is_computed(collected, name):
            for testbed in collected.testbeds.values():
                testbed.compute(name, metric)
