"""Check a marker's metrics and gates against its cases, and add them to the testbed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pytest_rageval.analysis.clusters import REPEAT
from pytest_rageval.analysis.gates import PSEUDO_METRICS, Gate, check_gate, parse_gate
from pytest_rageval.analysis.variants import STABLE
from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.engine.inputs import inputs_of
from pytest_rageval.errors import SettingError, did_you_mean, short_repr
from pytest_rageval.hooks.collect.correctness import check_diagnosis_metrics, correctness_of
from pytest_rageval.hooks.collect.testbed import Testbed
from pytest_rageval.hooks.config.baseline import refuse_baseline
from pytest_rageval.hooks.config.options import Options
from pytest_rageval.metrics.judges.people import corrected_metric
from pytest_rageval.model.case import Case
from pytest_rageval.model.facets import OF_SYSTEMS, RELATION, VARIANT, in_slice
from pytest_rageval.testbeds.ability import ability_named
from pytest_rageval.testbeds.selection import select

__all__ = ["add_metrics_and_gates", "has_facet", "may_lack_answers", "no_such_cluster", "refuse_stable_of_originals"]

SESSION_FACETS = {*OF_SYSTEMS, REPEAT, RELATION, VARIANT}
"""Facets that the session adds to cases; they cannot group dependent cases."""


def add_metrics_and_gates(
    testbed: Testbed, cases: Sequence[Case], catalog: Catalog, options: Options, defaults: tuple[str, ...] = ()
) -> None:
    """Add a marker's metrics and gates to its testbed, and the metrics that the gates use.

    Args:
        testbed: the testbed that a marker declares.
        cases: all its cases.
        catalog: the registered metrics and other components.
        options: settings of the command line and the ini.
        defaults: the metrics of the dataset's format; used if the testbed names neither metrics nor an ability.

    Raises:
        SettingError: a metric, a gate or a selection of the marker cannot be used with these cases.
    """
    settings, where = testbed.settings, testbed.settings.origin
    testbed.facets.update(*(case.facets for case in cases))
    if not select(cases, settings.where, None, None, 0, where):
        raise SettingError(f"{where}: where matches no case; {_known_values(settings.where, cases)}", code="RAG109")
    if settings.cluster is not None and not has_facet(cases, settings.cluster):
        raise no_such_cluster(settings.cluster, f"{where}: cluster", cases)
    gates = [parse_gate(text, where) for text in settings.gates]
    gate_metrics = [gate.metric for gate in gates if gate.metric not in PSEUDO_METRICS]
    default_metrics = defaults if defaults and settings.ability is None else ability_named(settings.ability).metrics
    for name in [*(settings.metrics or default_metrics), *gate_metrics]:
        metric = catalog.metrics.get(name, where)
        if metric.needs_all and settings.relevance == "answers":
            reason = "counts passages that were not retrieved, and relevance 'answers' judges only retrieved ones"
            problem = f"metric {short_repr(name)} {reason}"
            raise SettingError(f"{where}: {problem}; use P@k, RR or Success@k, or relevance 'overlap'")
        if inner := corrected_metric(name):
            testbed.compute(inner, catalog.metrics.get(inner, where))
        testbed.compute(name, metric)
    _check_stability(testbed, gates, catalog)
    testbed.correctness = correctness_of(testbed, catalog, options.diagnosis)
    check_diagnosis_metrics(testbed, where)
    _check_inputs(testbed, cases, catalog, where)
    for gate in gates:
        check_gate(gate, testbed.metrics, testbed.facets, where)
        refuse_baseline(gate, options.baseline, where)
        if not (any(in_slice(case.facets, gate.static_slice) for case in cases) or may_lack_answers(gate, [testbed])):
            known = _known_values(gate.slice, cases)
            raise SettingError(f"{where}: gate {short_repr(str(gate))} matches no case; {known}", code="RAG112")
        if gate in testbed.gates:
            raise SettingError(f"{where}: gate {short_repr(str(gate))} is listed twice; remove one")
        testbed.gates.append(gate)


def refuse_stable_of_originals(gate: Gate, where: str) -> None:
    """Refuse a gate on ``stable`` without a relation: it selects original cases, and only variants have a value."""
    if gate.metric == STABLE and not _is_over_variants(gate):
        problem = f"gate {short_repr(str(gate))} selects original cases, and only variants have a value"
        raise SettingError(f"{where}: {problem}; write {STABLE}[{RELATION}=*] {gate.op} {gate.bound_text}")


def may_lack_answers(gate: Gate, testbeds: Iterable[Testbed]) -> bool:
    """Return whether a gate needs variants that recorded answers may lack; such a gate is skipped, not refused."""
    return _is_over_variants(gate) and any(each.settings.relations and each.recorded is not None for each in testbeds)


def has_facet(cases: Iterable[Case], name: str) -> bool:
    """Return whether a case has the facet, and the facet can group dependent cases."""
    return name not in SESSION_FACETS and any(name in case.facets for case in cases)


def no_such_cluster(cluster: str, where: str, cases: Iterable[Case]) -> SettingError:
    """Return the error for a cluster facet that no case has; ``where`` ends with the setting's name."""
    known = {name for case in cases for name in case.facets} - SESSION_FACETS
    return SettingError(f"{where} is {short_repr(cluster)}, a facet that no case has; {did_you_mean(cluster, known)}")


def _check_inputs(testbed: Testbed, cases: Sequence[Case], catalog: Catalog, where: str) -> None:
    """Check that the cases have the inputs of a testbed's metrics; add metrics that cross-check these inputs."""
    metrics = tuple(testbed.metrics.values())
    inputs = inputs_of(metrics)
    try:
        for each in inputs:
            each.check(metrics)
    except SettingError as error:
        raise SettingError(f"{where}: {error}") from error
    for name in (name for each in inputs for name in each.cross_checks(cases)):
        testbed.compute(name, catalog.metrics.get(name, where))


def _known_values(conditions: Mapping[str, str], cases: Sequence[Case]) -> str:
    """Return a hint that lists the values of each facet in ``conditions``."""
    parts = []
    for name in conditions:
        known = sorted({case.facets[name] for case in cases if name in case.facets})
        parts.append(f"{name} is {', '.join(map(short_repr, known[:8]))}" if known else f"no case has {name}")
    return "; ".join(parts)


def _check_stability(testbed: Testbed, gates: Iterable[Gate], catalog: Catalog) -> None:
    """Add ``stable`` to a testbed with relations, as its last metric; refuse uses of it that have no effect.

    Raises:
        SettingError: the testbed has no relations, ``stable`` is its primary metric, or a gate names no relation.
    """
    where = testbed.settings.origin
    if next(iter(testbed.metrics)) == STABLE:
        problem = f"metric {STABLE!r} compares values of the primary metric, which is the first one"
        raise SettingError(f"{where}: {problem}; name another one first")
    if testbed.settings.relations:
        testbed.compute(STABLE, catalog.metrics.get(STABLE, where))
    elif STABLE in testbed.metrics:
        problem = f"metric {STABLE!r} compares cases with their variants, and there are none"
        raise SettingError(f'{where}: {problem}; add relations=["typo"], for instance')
    for gate in gates:
        refuse_stable_of_originals(gate, where)


def _is_over_variants(gate: Gate) -> bool:
    return RELATION in gate.slice or VARIANT in gate.slice
