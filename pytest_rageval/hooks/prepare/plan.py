"""Build the plan of a session, from which its reports are made."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pytest_rageval.analysis.clusters import REPEAT
from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.datasets.source import place_below
from pytest_rageval.engine.diagnosis import reads_diagnosis
from pytest_rageval.hooks.collect.selection import left_out
from pytest_rageval.hooks.collect.session import Collected
from pytest_rageval.hooks.collect.testbed import Entry, Testbed
from pytest_rageval.hooks.prepare.baseline_cases import deselected_of_baseline
from pytest_rageval.hooks.prepare.default_system import default_system, other_system_notes
from pytest_rageval.hooks.prepare.recorded_answers import unused_answers
from pytest_rageval.hooks.prepare.run_settings import testbed_settings
from pytest_rageval.model.case import Case
from pytest_rageval.model.facets import RELATION, VARIANT, is_variant
from pytest_rageval.model.metric import Metric
from pytest_rageval.report.run.plan import Plan, Shard, TestbedPlan, UnseenSystems
from pytest_rageval.report.text.lines import counted
from pytest_rageval.testbeds.expand import shortfalls
from pytest_rageval.testbeds.ids import digest

__all__ = ["plan_of"]

_DATA_SETTINGS = (
    "dataset", "ability", "assembly", "passages", "noise_rate", "correct_rate", "qrels", "where", "facets",
)  # fmt: skip


def plan_of(collected: Collected, nodes: Mapping[str, Entry]) -> Plan:
    """Return the plan of a session.

    Args:
        collected: the testbeds, including those with all cases deselected.
        nodes: node id -> entry, for each case that will run.
    """
    plan = Plan(
        fingerprint=_fingerprint(collected),
        identity=collected.identity,
        passages=collected.passages,
        notes=(*collected.notes, *unused_answers(collected)),
    )
    plan.notes += tuple(note for source in collected.sources for note in source.notes)
    plan.session_gates = tuple(str(gate) for gate, _ in collected.session_gates)
    plan.unmatched_gates = tuple(str(gate) for gate in collected.unmatched)
    plan.labels, plan.least_kappas = collected.trust.labels, dict(collected.trust.min_kappas)
    plan.max_bias = collected.options.trust.max_bias
    own_ordinals = sorted({entry.ordinal for entry in nodes.values()})
    chosen = own_ordinals if collected.shared is None else sorted(collected.shared)
    selected: dict[str, list[Case]] = {}
    for entry in map(collected.entries.__getitem__, chosen):
        if not is_variant(entry.case.facets):
            selected.setdefault(entry.testbed.nodeid, []).append(entry.case)
    omitted = left_out(collected.entries, set(chosen))
    for testbed in collected.testbeds.values():
        if not testbed.reached:
            continue
        testbed_plan = _testbed_plan(collected, testbed, selected.get(testbed.nodeid, []))
        plan.testbeds[testbed.nodeid] = replace(testbed_plan, left_out=omitted[testbed.nodeid])
        for name, metric in testbed.metrics.items():
            judge = _judge_of(testbed, metric)
            panel = None if metric.judge is None else collected.panels.get(metric.judge.name)
            escalate = panel.escalate if panel is not None and isinstance(panel.escalate, float) else None
            plan.metrics[name] = MetricInfo(
                metric.binary, metric.higher_is_better, metric.of, metric.downstream, judge, escalate
            )
    n_collected = sum(entry.testbed.reached for entry in collected.entries)
    plan.unselected = n_collected - len(chosen)
    plan.part = f"{counted(omitted.total(), 'case')} left out" if omitted else ""
    plan.narrowed = collected.options.narrowed
    setting = collected.options.baseline
    plan.alpha, plan.inconclusive, plan.updates = setting.alpha, setting.inconclusive, setting.update
    plan.partial_gates = collected.options.partial_gates
    plan.min_compared, plan.deselected = setting.min_compared, deselected_of_baseline(collected, chosen)
    plan.alpha_per, plan.unseen = setting.alpha_per, _unseen(collected)
    plan.default_system = default_system(nodes.values())
    plan.notes += other_system_notes(collected.baseline, plan, {collected.entries[at].responder.name for at in chosen})
    facet_indexes: dict[tuple[tuple[str, str], ...], int] = {}
    for nodeid, entry in sorted(nodes.items(), key=lambda node: (node[1].ordinal, node[0])):
        key = tuple(entry.case.facets.items())
        if key not in facet_indexes:
            facet_indexes[key] = len(plan.facets)
            plan.facets.append(dict(entry.case.facets))
        case_id = collected.case_id(entry)
        plan.cases[nodeid] = (case_id, entry.testbed.nodeid, entry.responder.name, facet_indexes[key])
    if collected.options.shard is not None:
        order = tuple(nodes[nodeid].ordinal for nodeid in plan.cases)
        plan.shard = Shard(*collected.options.shard, len(chosen), _selection(collected, chosen), order)
    return plan


def _unseen(collected: Collected) -> UnseenSystems:
    """Return the systems whose model calls may be invisible; ``rag_record_http`` should make all of them visible."""
    return UnseenSystems({} if collected.models.http is not None else collected.direct, direct=collected.direct)


def _judge_of(testbed: Testbed, metric: Metric) -> str:
    """Return the name of the judge that a metric depends on; "" if none.

    A diagnosis depends on the judge of the metric that decides whether an answer is correct.
    """
    if reads_diagnosis(metric) and testbed.correctness is not None:
        metric = testbed.metrics[testbed.correctness.metric]
    return "" if metric.judge_asked is None else metric.judge_asked.name


def _testbed_plan(collected: Collected, testbed: Testbed, selected: Sequence[Case]) -> TestbedPlan:
    return TestbedPlan(
        nodeid=testbed.nodeid,
        name=testbed.name,
        metrics=tuple(testbed.metrics),
        gates=tuple(str(gate) for gate in testbed.gates),
        generated=testbed.generated,
        asserts=testbed.asserts,
        labelled=testbed.labelled,
        notes=(*_short_pools(selected), *testbed.notes),
        settings=testbed_settings(testbed),
        cluster=testbed.settings.cluster or collected.options.cluster,
        where=place_below(collected.rootdir, collected.rootdir, testbed.settings.origin),
    )


def _selection(collected: Collected, chosen: Sequence[int]) -> str:
    """Return a digest of the selected cases with their systems, repeats and variants."""
    entries = [collected.entries[ordinal] for ordinal in chosen]
    names = (REPEAT, RELATION, VARIANT)
    keys = [
        (e.testbed.nodeid, e.name, e.responder.name, *(e.case.facets.get(name, "") for name in names)) for e in entries
    ]
    return digest(*(part for key in keys for part in key)).hex()[:16]


def _fingerprint(collected: Collected) -> str:
    """Return sha256 over the data files, the corpus (if read) and the settings that define the cases."""
    digest = hashlib.sha256()
    for source in collected.sources:
        digest.update(source.name.encode())
        digest.update(source.digest)
    digest.update(collected.corpus.digest)
    for testbed in collected.testbeds.values():
        settings = {name: str(getattr(testbed.settings, name)) for name in _DATA_SETTINGS}
        digest.update(json.dumps([testbed.nodeid, testbed.seed, settings], sort_keys=True).encode())
    return f"sha256:{digest.hexdigest()}"


def _short_pools(cases: Sequence[Case]) -> tuple[str, ...]:
    """Return a warning if pools of passages are too short to assemble what cases ask for; else nothing."""
    short = shortfalls(cases)
    if not short.count:
        return ()
    ids = ", ".join(short.ids) + (", ..." if short.count > len(short.ids) else "")
    return (f"{short.count} of {short.total} cases got other passages than requested: their pools are short ({ids})",)
