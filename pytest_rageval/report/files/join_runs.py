"""Join runs of different systems over the same data, to compare the systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.errors import SettingError
from pytest_rageval.model.facets import MODEL, SYSTEM
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.files.merge_shards import Part
from pytest_rageval.report.run.plan import DIGEST, TestbedPlan

__all__ = ["JoinedRuns", "join_runs"]

KINDS = ("data", "settings")
"""Kinds of a run's identity that the runs must share. Their systems differ."""


@dataclass(frozen=True, slots=True)
class JoinedRuns:
    """Systems of one run or several.

    Attributes:
        names: the names of the runs.
        outcomes: the outcomes of systems under test, in data order, run by run.
        metrics: metric -> its metadata.
        testbeds: node id -> testbed.
        alpha: the accepted rate of false alarms of the first run.
        settings: system -> the settings of its run.
    """

    names: tuple[str, ...]
    outcomes: tuple[Outcome, ...]
    metrics: Mapping[str, MetricInfo]
    testbeds: Mapping[str, TestbedPlan]
    alpha: float
    settings: Mapping[str, Mapping[str, str]]

    def of_metric(self, metric: str) -> list[Outcome]:
        """Return the outcomes of testbeds with a metric."""
        mine = {nodeid for nodeid, testbed in self.testbeds.items() if metric in testbed.metrics}
        return [outcome for outcome in self.outcomes if outcome.testbed in mine or outcome.testbed not in self.testbeds]

    @property
    def primary(self) -> list[str]:
        """The primary metrics of the testbeds with outcomes, that of the most outcomes first."""
        counts = Counter(outcome.testbed for outcome in self.outcomes)
        found: Counter[str] = Counter()
        for nodeid, testbed in self.testbeds.items():
            if counts[nodeid]:
                found[testbed.primary] += counts[nodeid]
        return [metric for metric, _ in found.most_common()]


def join_runs(parts: Sequence[Part]) -> JoinedRuns:
    """Return the systems of runs over the same data with the same settings.

    A system that several runs have gets the name of its model, or else of its run.

    Raises:
        SettingError: the data or the settings of two runs differ, or a run is named twice.
    """
    first, *others = parts
    for other in others:
        _check(first, other)
    names = [str(part.results["run"]["id"] or part.name) for part in parts]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise SettingError(f"the run {twice} is named twice; name each run once", code="RAG503")
    groups = [part.run.of_systems() for part in parts]
    renamed = [_distinct(group, groups, name) for group, name in zip(groups, names, strict=True)]
    settings = {
        outcome.system: part.run.settings for part, group in zip(parts, renamed, strict=True) for outcome in group
    }
    return JoinedRuns(
        names=tuple(names),
        outcomes=tuple(chain(*renamed)),
        metrics={name: info for part in reversed(parts) for name, info in part.run.plan.metrics.items()},
        testbeds={nodeid: testbed for part in reversed(parts) for nodeid, testbed in part.run.plan.testbeds.items()},
        alpha=first.run.plan.alpha,
        settings=settings,
    )


def _distinct(group: Sequence[Outcome], groups: Sequence[Sequence[Outcome]], run: str) -> list[Outcome]:
    """Return a run's outcomes with names of systems that no other run has."""
    models: dict[str, Counter[str]] = {}
    for each in groups:
        for system, model in {(outcome.system, outcome.facets.get(MODEL, "")) for outcome in each}:
            models.setdefault(system, Counter())[model] += 1
    named: dict[str, str] = {}
    for outcome in group:
        system, model = outcome.system, outcome.facets.get(MODEL, "")
        if sum(models[system].values()) == 1 or all(each is group or not _has(each, system) for each in groups):
            continue
        by_model = model and models[system][model] == 1 and f"{system}@{model}" not in models
        named.setdefault(system, f"{system}@{model}" if by_model else f"{system} ({run})")
    return [
        replace(each, system=named[each.system], facets={**each.facets, SYSTEM: named[each.system]})
        if each.system in named
        else each
        for each in group
    ]


def _has(group: Sequence[Outcome], system: str) -> bool:
    return any(outcome.system == system for outcome in group)


def _check(one: Part, other: Part) -> None:
    for what, mine, theirs in _to_agree(one, other):
        if mine != theirs:
            raise SettingError(
                f"{one.name} and {other.name} differ in {what}; join runs of the same data and settings", code="RAG503"
            )


def _to_agree(one: Part, other: Part) -> Iterator[tuple[str, object, object]]:
    """Yield (description, value of one, value of the other) for what two runs must share."""
    for kind in KINDS:
        mine, theirs = one.run.plan.identity.get(kind, {}), other.run.plan.identity.get(kind, {})
        if mine and theirs:  # a run of an older version may have none
            for name in sorted({*mine, *theirs}):
                here, there = mine.get(name, ""), theirs.get(name, "")
                private = here.startswith(DIGEST) or there.startswith(DIGEST)
                yield name if private else f"{name} ({here or 'not given'}, {there or 'not given'})", here, there
    fingerprints = (part.results["run"]["fingerprint"] for part in (one, other))
    yield "the data or the settings that cases are made with", *fingerprints
