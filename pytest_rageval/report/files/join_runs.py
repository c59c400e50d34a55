"""Join runs of different systems over the same data, to compare the systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.analysis.systems.board import key_of
from pytest_rageval.errors import SettingError
from pytest_rageval.model.facets import MODEL, SYSTEM
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.files.merge_shards import Part
from pytest_rageval.report.run.plan import TestbedPlan

__all__ = ["JoinedRuns", "join_runs"]


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
    """Raise unless two runs have the same data and settings.

    The fingerprints of the runs may differ in the corpus, which only some systems read. Then all cases must be the
    same, with the same content and settings.
    """
    if one.results["run"]["fingerprint"] == other.results["run"]["fingerprint"]:
        return
    mine, theirs = one.run.plan.testbeds, other.run.plan.testbeds
    for nodeid in sorted({*mine, *theirs}):
        if nodeid not in mine or nodeid not in theirs:
            raise _differ(one, other, f"the testbed {nodeid}, which only one of them has")
        here, there = mine[nodeid].settings, theirs[nodeid].settings
        for name in sorted({*here, *there}):
            if here.get(name) != there.get(name):
                values = " and ".join(each.get(name, "not given") for each in (here, there))
                raise _differ(one, other, f"{name} of {mine[nodeid].name} ({values})")
    cases, its = ({key_of(each): each.data for each in part.run.of_systems()} for part in (one, other))
    if cases != its:
        key = next(key for key in (*cases, *its) if cases.get(key) != its.get(key))
        raise _differ(one, other, f"the data of the case {key[1]}")


def _differ(one: Part, other: Part, what: str) -> SettingError:
    return SettingError(
        f"{one.name} and {other.name} differ in {what}; name runs of the same data and settings", code="RAG503"
    )
