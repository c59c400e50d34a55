"""What a session is about to run: the data a report needs and the outcomes alone do not hold.

The process that collects makes the plan; it crosses to the reporting process as one string.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.analysis.partial import PartPolicy, SelectedPart
from pytest_rageval.analysis.regression import AlphaPer, Policy
from pytest_rageval.datasets.labels import Label
from pytest_rageval.model.facets import DIALOGUE
from pytest_rageval.model.outcome import Outcome

__all__ = ["DIGEST", "TO_AGREE", "Plan", "Shard", "TestbedPlan"]

DIGEST = "sha256:"
"""How a value of a plan's identity begins that stands for a long or private one."""

TO_AGREE = ("settings", "systems")
"""The kinds of a plan's identity that the shards of a session are held to, beside data and versions."""


@dataclass(frozen=True, slots=True)
class TestbedPlan:
    """One test function with ``@rag_case``, or one entry of a suite.

    Attributes:
        nodeid: its node id, without parameters.
        name: its short name.
        metrics: what its cases are scored by, the primary one first.
        gates: its gates, as text.
        generated: how many cases its datasets give, before any deselection.
        asserts: whether its body may fail a case on its own.
        notes: sentences the summary prints as warnings (short pools).
        labelled: whether its dataset brings its answers along: it tells of judges, and nothing of the systems under
            test, whose matrices and session gates leave it out.
        settings: what its cases ask, by the names of ``rag_case``.
        cluster: the facet whose value its dependent cases share.
        where: ``file:line`` of its marker or table, from the rootdir; "" if unknown.
    """

    __test__ = False

    nodeid: str
    name: str
    metrics: tuple[str, ...]
    gates: tuple[str, ...] = ()
    generated: int = 0
    asserts: bool = False
    notes: tuple[str, ...] = ()
    labelled: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)
    cluster: str = DIALOGUE
    where: str = ""

    @property
    def primary(self) -> str:
        """The metric that stands for the testbed."""
        return self.metrics[0]


@dataclass(frozen=True, slots=True)
class Shard:
    """What a session knows that runs one share of the cases.

    Attributes:
        number: which share it is, from 1.
        of: how many there are.
        cases: how many cases all of them run together.
        selection: a digest of which cases these are.
        places: where each case of this share stands among them in data order, in the order of the plan; None for an
            outcome that was not planned.
    """

    number: int
    of: int
    cases: int
    selection: str
    places: tuple[int | None, ...]

    def __str__(self) -> str:
        return f"shard {self.number} of {self.of}"


@dataclass(slots=True)
class Plan:
    """The testbeds and the selected cases of a session.

    Attributes:
        testbeds: by node id, in the order they were collected.
        cases: node id -> (case id, testbed's node id, system, index into ``facets``), in data order.
        facets: the distinct facet mappings.
        metrics: what is known of each metric that is computed.
        session_gates: gates over all cases, as text.
        unmatched_gates: those of them that no case of this part of the project can meet.
        fingerprint: sha256 of the data files and the settings.
        notes: sentences the summary prints as warnings.
        unselected: how many cases of the testbeds do not run, on no shard.
        shard: which share of the cases the session runs; None where it runs all.
        labels: people's labels of answers, that judges are measured by.
        least_kappas: judge, or "" for every other, -> the least kappa with them for its scores to count.
        part: why the run has not all cases of its testbeds, or "".
        narrowed: whether it may not have all testbeds of the project, as paths are given.
        alpha: how many false alarms a comparison with the baseline takes, as a share.
        inconclusive: what becomes of a drop that cannot be told from noise: ``pass``, ``warn`` or ``fail``.
        alpha_per: what alpha holds for: ``session``, all baseline gates together, or ``gate``, each alone.
        updates: whether the run becomes the baseline, so that its gates have none to be held to.
        identity: what decides the scores, as `Head` has it.
        passages: id of each passage that cases are judged by -> digest of its text, as far as the corpus has it.
        min_compared: share of its cases in the baseline that a gate has to be compared with; None, in results of an
            older version, asks for none.
        deselected: the cases of the baseline that the session left out, as places in the baseline.
        partial: node id of a gate with a fixed bound -> the part of its cases that is selected, where by accident it is
            not all of them.
        partial_gates: what becomes of these gates: ``skip``, ``decide`` or ``fail``.
        unseen: system whose model calls may not be seen -> what the user wrote for it.
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
    unseen: Mapping[str, str] = field(default_factory=dict)

    def dumps(self) -> str:
        """Return the plan as one JSON text."""
        return json.dumps(asdict(self))

    @classmethod
    def loads(cls, text: str) -> Plan:
        """Return the plan that `dumps` wrote."""
        plain: dict[str, Any] = json.loads(text)
        testbeds: dict[str, TestbedPlan] = {}
        for key, value in plain["testbeds"].items():
            fields: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in value.items()}
            testbeds[key] = TestbedPlan(**fields)
        return cls(
            testbeds=testbeds,
            cases={key: tuple(value) for key, value in plain["cases"].items()},
            facets=plain["facets"],
            metrics={name: MetricInfo(**info) for name, info in plain["metrics"].items()},
            session_gates=tuple(plain["session_gates"]),
            unmatched_gates=tuple(plain["unmatched_gates"]),
            fingerprint=plain["fingerprint"],
            notes=tuple(plain["notes"]),
            unselected=plain["unselected"],
            shard=plain["shard"] and Shard(**{**plain["shard"], "places": tuple(plain["shard"]["places"])}),
            labels=tuple(Label(**label) for label in plain["labels"]),
            least_kappas=plain["least_kappas"],
            part=plain["part"],
            narrowed=plain["narrowed"],
            alpha=plain["alpha"],
            inconclusive=plain["inconclusive"],
            alpha_per=plain["alpha_per"],
            updates=plain["updates"],
            identity=plain["identity"],
            passages=plain["passages"],
            min_compared=plain["min_compared"],
            deselected=tuple(plain["deselected"]),
            partial={node: SelectedPart(*part) for node, part in plain["partial"].items()},
            partial_gates=plain["partial_gates"],
            unseen=plain["unseen"],
        )

    @property
    def apart(self) -> set[str]:
        """The testbeds of labelled answers, which tell nothing of the systems under test beside them."""
        labelled = {nodeid for nodeid, testbed in self.testbeds.items() if testbed.labelled}
        return labelled if labelled < self.testbeds.keys() else set()

    def joined(self, outcome: Outcome) -> Outcome:
        """Return an outcome that knows the cluster of its testbed."""
        testbed = self.testbeds.get(outcome.testbed)
        same = testbed is None or testbed.cluster == outcome.cluster
        return outcome if same or testbed is None else replace(outcome, cluster=testbed.cluster)

    def lost(self, nodeid: str, error: str) -> Outcome | None:
        """Return the error outcome of a planned case whose process died; None if it was no case."""
        if nodeid not in self.cases:
            return None
        case_id, testbed, system, facets = self.cases[nodeid]
        return Outcome(
            nodeid, case_id, testbed, self.facets[facets], system, "error", error=error, error_type="worker_crashed"
        )
