"""Cases with scores averaged over repeats, for comparing runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING

from pytest_rageval.analysis.clusters import REPEAT, by_case
from pytest_rageval.model.facets import DIALOGUE, KNEW, OF_SYSTEMS, is_variant, workflow_and_model
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.model.storage import UNSTORED, Amount, Share, stored

if TYPE_CHECKING:
    from pytest_rageval.analysis.metric_info import MetricInfo

__all__ = ["DIGITS", "Measured", "MeasuredTestbed", "Snapshot", "facets_of_case", "mean_of_known", "measured_of"]

DIGITS = 6
"""Decimal digits of compared scores: enough to show a real change, too few to show rounding of another machine."""

_RUN_AND_SYSTEM_FACETS = (REPEAT, KNEW, *OF_SYSTEMS)


@dataclass(frozen=True, slots=True)
class Measured:
    """One case under one testbed, system and setting.

    Attributes:
        testbed: the testbed's node id.
        case: the case's id.
        system: the system's name.
        facets: its facets, without facets of the system and of a single run.
        data: digest of the question and the gold data; "" if unknown.
        said: digest of the answer's text, one for each answered repeat.
        evidence: share of the evidence that the system had, the mean over repeats; None if unknown.
        scores: metric -> mean over the repeats with a value, to `DIGITS` digits; no key if no repeat has one.
        failed: whether no repeat was scored.
        nodes: the node ids of its runs; () if only its measures are known.
        answer_seen: used if ``evidence`` is unknown: mean share over repeats of gold slots found in the passages seen;
            else None.
        cluster: the facet whose value it shares with dependent cases.
        labels: its facets ``workflow`` and ``model``, if known.
        length: number of characters of the answer, the mean over repeats; None if unknown.
        declined: share in 0..1 of its answers that decline to answer.
    """

    testbed: str
    case: str
    system: str
    facets: Mapping[str, str]
    data: str = field(metadata=stored(before="facets"))
    said: tuple[str, ...] = field(default=(), metadata=stored(always=True, needed=True, before="data"))
    evidence: Share | None = field(default=None, metadata=stored(always=True, needed=True, before="said"))
    scores: Mapping[str, Share] = field(
        default_factory=dict, metadata=stored(always=True, needed=True, before="evidence")
    )
    failed: bool = False
    nodes: tuple[str, ...] = field(default=(), metadata=UNSTORED)
    answer_seen: Share | None = field(default=None, metadata=stored(before="failed"))
    cluster: str = field(default=DIALOGUE, metadata=UNSTORED)
    labels: Mapping[str, str] = field(default_factory=dict, metadata=UNSTORED)
    length: Amount | None = None
    declined: Share = 0.0

    @property
    def key(self) -> tuple[str, str, str, tuple[tuple[str, str], ...]]:
        """Its unique key, also for sorting."""
        return self.testbed, self.case, self.system, tuple(sorted(self.facets.items()))

    @property
    def name(self) -> str:
        """The node id of its first run or, if unknown, its testbed and id."""
        return self.nodes[0] if self.nodes else f"{self.testbed}[{self.case}]"


@dataclass(frozen=True, slots=True)
class MeasuredTestbed:
    """A testbed of a snapshot.

    Attributes:
        name: its short name.
        metrics: its metrics, the primary one first.
        cluster: the facet whose value its dependent cases share.
    """

    name: str
    metrics: tuple[str, ...]
    cluster: str = DIALOGUE


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The measures of a run, as needed to compare it; a committed baseline is a snapshot.

    Attributes:
        run: the run's name.
        started: when it began, in ISO 8601.
        fingerprint: sha256 of its data files and settings.
        versions: package -> version.
        metrics: metric -> its metadata.
        testbeds: node id -> testbed.
        cases: the measured cases, sorted.
        path: the file that it was read from, for messages.
        passages: id of each judged passage -> digest of its text; None if no digests were stored.
    """

    run: str
    started: str
    fingerprint: str
    versions: Mapping[str, str]
    metrics: Mapping[str, MetricInfo]
    testbeds: Mapping[str, MeasuredTestbed]
    cases: tuple[Measured, ...]
    path: str = ""
    passages: Mapping[str, str] | None = None

    @property
    def originals(self) -> tuple[Measured, ...]:
        """The cases that are not variants."""
        return tuple(case for case in self.cases if not is_variant(case.facets))

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of its systems, sorted."""
        return tuple(sorted({case.system for case in self.cases}))


def measured_of(outcomes: Iterable[Outcome]) -> tuple[Measured, ...]:
    """Return the measured cases of outcomes, sorted, without cases that were always skipped."""
    groups = by_case(outcome for outcome in outcomes if outcome.status != "skipped").values()
    return tuple(sorted(map(_measured, groups), key=lambda case: case.key))


def facets_of_case(facets: Mapping[str, str]) -> dict[str, str]:
    """Return the facets of a case and its setting, without the facets of its system and of a single run."""
    return {key: value for key, value in facets.items() if key not in _RUN_AND_SYSTEM_FACETS}


def _measured(runs: Sequence[Outcome]) -> Measured:
    first = runs[0]
    scored = [run for run in runs if run.status == "scored"]
    names = dict.fromkeys(name for run in scored for name in run.scores)
    values = {name: [v for run in scored if (v := _value(run, name)) is not None] for name in names}
    return Measured(
        testbed=first.testbed,
        case=first.case_id,
        system=first.system,
        facets=facets_of_case(first.facets),
        data=next((run.data for run in runs if run.data), ""),
        said=tuple(run.said for run in runs if run.said),
        evidence=mean_of_known(run.evidence for run in runs),
        scores={name: round(fmean(each), DIGITS) for name, each in values.items() if each},
        failed=not scored,
        nodes=tuple(run.nodeid for run in runs),
        answer_seen=mean_of_known(run.answer_seen for run in runs),
        cluster=first.cluster,
        labels=workflow_and_model(first.facets),
        length=mean_of_known(run.length for run in runs),
        declined=mean_of_known(float(run.declined) for run in runs) or 0.0,
    )


def mean_of_known(values: Iterable[float | None]) -> float | None:
    """Return the mean of the known values, to `DIGITS` digits; None if all are unknown."""
    known = [value for value in values if value is not None]
    return round(fmean(known), DIGITS) if known else None


def _value(run: Outcome, name: str) -> float | None:
    score = run.scores.get(name)
    return None if score is None else score.value
