"""The plan of a session: the data that a report needs in addition to the outcomes.

The process that collects the tests makes the plan and sends it to the reporting process as one string.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated

from pytest_rageval.analysis.baseline.regression import AlphaPer, Policy
from pytest_rageval.analysis.decisions.selected_part import PartPolicy, SelectedPart
from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.analysis.people.bias import MAX_BIAS
from pytest_rageval.datasets.labels import Label
from pytest_rageval.model.derived_codec import decoder, encoder
from pytest_rageval.model.facets import DIALOGUE
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.model.storage import ALWAYS, Bounds, stored

__all__ = ["DIGEST", "SHARED_IDENTITY", "Plan", "Shard", "TestbedPlan", "UnseenSystems"]

DIGEST = "sha256:"
"""Prefix of an identity value that is a digest, because the value itself is long or private."""

SHARED_IDENTITY = ("settings", "systems")
"""Kinds of `Plan.identity` that all shards of a session must share, in addition to data and versions."""


@dataclass(frozen=True, slots=True)
class TestbedPlan:
    """One test function with ``@rag_case``, or one entry of a suite.

    Attributes:
        nodeid: its node id, without parameters.
        name: its short name.
        metrics: the metrics of its cases, the primary one first.
        gates: its gates, as text.
        generated: number of cases of its datasets, before pytest deselects any.
        asserts: whether its body may fail a case on its own.
        notes: sentences that the summary prints as warnings (short pools).
        labelled: whether its dataset contains the answers. Such a testbed measures judges, not systems under test;
            matrices and session gates leave it out.
        settings: the settings of its cases, by the names of ``rag_case``.
        cluster: the facet whose value dependent cases share, such as ``dialogue``.
        where: ``file:line`` of its marker or table, relative to the rootdir; "" if unknown.
        left_out: number of its cases that the session deselected.
    """

    __test__ = False

    nodeid: str = field(metadata=stored(is_key=True))
    name: str
    metrics: Annotated[tuple[str, ...], Bounds(items=1)]
    gates: tuple[str, ...] = field(default=(), metadata=ALWAYS)
    generated: int = field(default=0, metadata=ALWAYS)
    asserts: bool = field(default=False, metadata=ALWAYS)
    notes: tuple[str, ...] = field(default=(), metadata=ALWAYS)
    labelled: bool = field(default=False, metadata=ALWAYS)
    settings: Mapping[str, str] = field(default_factory=dict)
    cluster: str = DIALOGUE
    where: str = ""
    left_out: int = 0

    @property
    def primary(self) -> str:
        """The first metric, which represents the testbed."""
        return self.metrics[0]


@dataclass(frozen=True, slots=True)
class Shard:
    """One shard of a session: its share of the cases.

    Attributes:
        number: number of the shard, from 1.
        of: number of shards.
        cases: number of cases of all shards together.
        selection: a digest of these cases.
        places: position of each case of this shard among all cases in data order; None for an outcome that was not
            planned.
    """

    number: int
    of: int
    cases: int
    selection: str
    places: tuple[int | None, ...]

    def __str__(self) -> str:
        return f"shard {self.number} of {self.of}"


@dataclass(frozen=True, slots=True)
class UnseenSystems:
    """Systems whose model calls a budget or a gate on cost may not see.

    Attributes:
        systems: system -> its name or fixture in the user's words.
        budget: whether a budget limits the session.
        notes: warnings about these systems at the end of the session; the plan's notes include them.
        direct: the same for systems that may ask models directly, perhaps at hosts that ``rag_record_http`` does not
            name.
    """

    systems: Mapping[str, str] = field(default_factory=dict)
    budget: bool = False
    notes: tuple[str, ...] = ()
    direct: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Plan:
    """The testbeds and the selected cases of a session.

    Attributes:
        testbeds: node id -> testbed, in collection order.
        cases: node id -> (case id, testbed's node id, system, index into ``facets``), in data order.
        facets: the distinct facet mappings.
        metrics: metric -> its properties.
        session_gates: gates over all cases, as text.
        unmatched_gates: session gates that no case of this part of the project matches.
        fingerprint: sha256 of the data files and the settings.
        notes: sentences that the summary prints as warnings.
        unselected: number of cases of the testbeds that run on no shard.
        shard: the share of the cases that the session runs; None if it runs all.
        labels: people's labels of answers, which measure the judges.
        least_kappas: judge, or "" for all others -> smallest kappa with people at which its scores count.
        max_bias: largest allowed difference between a judge's mean and people's mean for a system.
        part: why the run lacks cases of its testbeds; "" if it has all.
        narrowed: whether paths on the command line narrow the run; testbeds of the project may then be missing.
        alpha: accepted rate of false alarms in the comparison with the baseline, in 0..1.
        inconclusive: what an inconclusive drop does: ``pass``, ``warn`` or ``fail``.
        alpha_per: what alpha applies to: ``session``, all baseline gates together, or ``gate``, each alone.
        updates: whether the run becomes the baseline; baseline gates then have nothing to compare with.
        identity: the settings and data that decide the scores, see `Head`.
        passages: id of each judged passage that the corpus has -> digest of its text.
        min_compared: smallest share of a gate's cases that must be scored, or compared if it is a baseline gate; None,
            in results of an older version, for no limit.
        deselected: baseline cases that the session left out, as indexes into the baseline.
        partial: node id of a gate with a fixed bound -> the selected part of its cases, if not all are selected.
        partial_gates: what happens to these gates: ``skip``, ``decide`` or ``fail``.
        unseen: systems whose model calls may not be seen.
        default_system: the built-in system that answers because no fixture and no option names a system; "" if one is
            named.
    """

    testbeds: dict[str, TestbedPlan] = field(default_factory=dict)
    cases: dict[str, tuple[str, str, str, int]] = field(default_factory=dict)
    facets: list[dict[str, str]] = field(default_factory=list)
    metrics: dict[str, MetricInfo] = field(default_factory=dict)
    session_gates: tuple[str, ...] = ()
    unmatched_gates: tuple[str, ...] = ()
    fingerprint: str = ""
    notes: tuple[str, ...] = ()
    unselected: int = 0
    shard: Shard | None = None
    labels: tuple[Label, ...] = ()
    least_kappas: Mapping[str, float] = field(default_factory=dict)
    max_bias: float = MAX_BIAS
    part: str = ""
    narrowed: bool = False
    alpha: float = 0.05
    inconclusive: Policy = "warn"
    alpha_per: AlphaPer = "session"
    updates: bool = False
    identity: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    passages: Mapping[str, str] = field(default_factory=dict)
    min_compared: float | None = 0.5
    deselected: tuple[int, ...] = ()
    partial: Mapping[str, SelectedPart] = field(default_factory=dict)
    partial_gates: PartPolicy = "skip"
    unseen: UnseenSystems = field(default_factory=UnseenSystems)
    default_system: str = ""

    def dumps(self) -> str:
        """Return the plan as one JSON text."""
        return json.dumps(encoder(Plan)(self))

    @classmethod
    def loads(cls, text: str) -> Plan:
        """Return the plan that `dumps` wrote."""
        plan: Plan = decoder(Plan)(json.loads(text))
        return plan

    @property
    def judge_testbeds(self) -> set[str]:
        """Testbeds of labelled answers, which only measure judges; empty if the session has no other testbed."""
        labelled = {nodeid for nodeid, testbed in self.testbeds.items() if testbed.labelled}
        return labelled if labelled < self.testbeds.keys() else set()

    @property
    def metrics_needing_trust(self) -> set[str]:
        """The metrics whose scores only count if their judge agrees with people."""
        least = self.least_kappas
        judges = [(name, info.judge) for name, info in self.metrics.items() if least and info.judge]
        return {name for name, judge in judges if judge in least or "" in least}

    def facets_of(self, nodeid: str) -> Mapping[str, str] | None:
        """Return the facets of a planned case; None if unknown. Cases with equal facets share one object."""
        planned = self.cases.get(nodeid)
        return None if planned is None or planned[3] >= len(self.facets) else self.facets[planned[3]]

    def in_order(self, outcomes: Mapping[str, Outcome]) -> list[Outcome]:
        """Return outcomes in the order of the plan, then those that were not planned."""
        known = [outcomes[nodeid] for nodeid in self.cases if nodeid in outcomes]
        if len(known) == len(outcomes):
            return known
        return known + [outcomes[nodeid] for nodeid in sorted(outcomes.keys() - self.cases.keys())]

    def with_cluster(self, outcome: Outcome) -> Outcome:
        """Return an outcome with the cluster of its testbed."""
        testbed = self.testbeds.get(outcome.testbed)
        same = testbed is None or testbed.cluster == outcome.cluster
        return outcome if same or testbed is None else replace(outcome, cluster=testbed.cluster)

    def crash_outcome(self, nodeid: str, error: str) -> Outcome | None:
        """Return the error outcome of a planned case whose process died; None if the node is not a case."""
        if nodeid not in self.cases:
            return None
        case_id, testbed, system, facets = self.cases[nodeid]
        return Outcome(
            nodeid, case_id, testbed, self.facets[facets], system, "error", error=error, error_type="worker_crashed"
        )
