"""What runs are compared by: each case under one system and setting, with the means of its scores over its repeats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING

from pytest_rageval.analysis.clusters import REPEAT, by_case
from pytest_rageval.model.facets import DIALOGUE, KNEW
from pytest_rageval.model.outcome import Outcome

if TYPE_CHECKING:
    from pytest_rageval.analysis.metric_info import MetricInfo

__all__ = ["DIGITS", "Measured", "MeasuredTestbed", "Snapshot", "facets_of_case", "mean_share", "measured_of"]

DIGITS = 6
"""Of the scores that are compared: enough for any change, and too few for another machine's rounding to be one."""

_NOT_OF_A_CASE = (REPEAT, KNEW, "system")


@dataclass(frozen=True, slots=True)
class Measured:
    """One case under one testbed, system and setting.

    Attributes:
        testbed: the testbed's node id.
        case: the case's id.
        system: the system's name.
        facets: its facets, save ``system`` and those of a single run.
        data: digest of what was asked and judged; "" where it is not known.
        said: digest of its answer's text, one for each repeat that was answered.
        evidence: share of the evidence that the system had, the mean over repeats; None where it is unknown.
        scores: metric -> its value to `DIGITS` digits, the mean over the repeats that have one; no key where none has.
        failed: whether no run of it was scored.
        nodes: the node ids of its runs; () where only its measures are known.
        answer_seen: if the evidence is unknown, the share of the gold slots that stand in the passages that the system
            saw, the mean over repeats; None if that is unknown, too.
        cluster: the facet whose value it shares with cases that it depends on.
    """

    testbed: str
    case: str
    system: str
    facets: Mapping[str, str]
    data: str
    said: tuple[str, ...] = ()
    evidence: float | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    failed: bool = False
    nodes: tuple[str, ...] = ()
    answer_seen: float | None = None
    cluster: str = DIALOGUE

    @property
    def key(self) -> tuple[str, str, str, tuple[tuple[str, str], ...]]:
        """What tells it from all others, and sorts them."""
        return self.testbed, self.case, self.system, tuple(sorted(self.facets.items()))

    @property
    def name(self) -> str:
        """The node id of its first run or, where that is not known, its testbed and id."""
        return self.nodes[0] if self.nodes else f"{self.testbed}[{self.case}]"


@dataclass(frozen=True, slots=True)
class MeasuredTestbed:
    """A testbed as others are compared with it.

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
    """A run as others are compared with it; a committed baseline is one.

    Attributes:
        run: the run's name.
        started: when it began, in ISO 8601.
        fingerprint: sha256 of its data files and settings.
        versions: of the packages that made it.
        metrics: what is known of each metric.
        testbeds: by node id.
        cases: what was measured, sorted.
        path: where it was read, as it is told.
        passages: id of each judged passage -> digest of its text; None where no digests were stored.
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
    def systems(self) -> tuple[str, ...]:
        """The names of its systems, sorted."""
        return tuple(sorted({case.system for case in self.cases}))


def measured_of(outcomes: Iterable[Outcome]) -> tuple[Measured, ...]:
    """Return what outcomes measure, sorted; a case that was skipped in every run measures nothing."""
    groups = by_case(outcome for outcome in outcomes if outcome.status != "skipped").values()
    return tuple(sorted(map(_measured, groups), key=lambda case: case.key))


def facets_of_case(facets: Mapping[str, str]) -> dict[str, str]:
    """Return the facets that tell a case's settings apart: without the system's, and those of a single run."""
    return {key: value for key, value in facets.items() if key not in _NOT_OF_A_CASE}


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
        evidence=mean_share(run.evidence for run in runs),
        scores={name: round(fmean(each), DIGITS) for name, each in values.items() if each},
        failed=not scored,
        nodes=tuple(run.nodeid for run in runs),
        answer_seen=mean_share(run.answer_seen for run in runs),
        cluster=first.cluster,
    )


def mean_share(shares: Iterable[float | None]) -> float | None:
    """Return the mean of the shares that are known, to `DIGITS` digits; None where none is."""
    known = [share for share in shares if share is not None]
    return round(fmean(known), DIGITS) if known else None


def _value(run: Outcome, name: str) -> float | None:
    score = run.scores.get(name)
    return None if score is None else score.value
