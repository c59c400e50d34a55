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
from pytest_rageval.report.files.merge_shards import NamedRun
from pytest_rageval.report.run.plan import TestbedPlan

__all__ = ["JoinedRuns", "join_runs"]


@dataclass(frozen=True, slots=True)
class JoinedRuns:
    """The systems of one or several runs.

    Attributes:
        names: the names of the runs.
        outcomes: the outcomes of the systems under test: run by run, in data order.
        metrics: metric -> its metadata.
        testbeds: node id -> testbed.
        alpha: the accepted rate of false alarms, from the first run.
        settings: system -> the settings of its run.
    """

    names: tuple[str, ...]
    outcomes: tuple[Outcome, ...]
    metrics: Mapping[str, MetricInfo]
    testbeds: Mapping[str, TestbedPlan]
    alpha: float
    settings: Mapping[str, Mapping[str, str]]

    def of_metric(self, metric: str) -> list[Outcome]:
        """Return the outcomes of the testbeds that compute a metric."""
        with_metric = {nodeid for nodeid, testbed in self.testbeds.items() if metric in testbed.metrics}
        return [
            outcome
            for outcome in self.outcomes
            if outcome.testbed in with_metric or outcome.testbed not in self.testbeds
        ]

    @property
    def primary(self) -> list[str]:
        """The primary metrics of testbeds with outcomes, sorted by number of outcomes, largest first."""
        counts = Counter(outcome.testbed for outcome in self.outcomes)
        n_outcomes: Counter[str] = Counter()
        for nodeid, testbed in self.testbeds.items():
            if counts[nodeid]:
                n_outcomes[testbed.primary] += counts[nodeid]
        return [metric for metric, _ in n_outcomes.most_common()]


def join_runs(parts: Sequence[NamedRun]) -> JoinedRuns:
    """Join runs over the same data with the same settings.

    If several runs have a system of the same name, its name is extended by its model, or else by its run.

    Raises:
        SettingError: the data or the settings of two runs differ, or a run is named twice.
    """
    first, *others = parts
    for other in others:
        _check_same_data(first, other)
    names = [str(part.results["run"]["id"] or part.name) for part in parts]
    if len(set(names)) < len(names):
        duplicate = next(name for name in names if names.count(name) > 1)
        raise SettingError(f"the run {duplicate} is named twice; name each run once", code="RAG503")
    groups = [part.run.of_systems() for part in parts]
    renamed = [_with_distinct_systems(group, groups, name) for group, name in zip(groups, names, strict=True)]
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


def _with_distinct_systems(group: Sequence[Outcome], groups: Sequence[Sequence[Outcome]], run: str) -> list[Outcome]:
    """Return a run's outcomes; rename its systems so that no other run has a system of the same name."""
    models: dict[str, Counter[str]] = {}
    for each in groups:
        for system, model in {(outcome.system, outcome.facets.get(MODEL, "")) for outcome in each}:
            models.setdefault(system, Counter())[model] += 1
    new_names: dict[str, str] = {}
    for outcome in group:
        system, model = outcome.system, outcome.facets.get(MODEL, "")
        if sum(models[system].values()) == 1 or all(each is group or not _has(each, system) for each in groups):
            continue
        by_model = model and models[system][model] == 1 and f"{system}@{model}" not in models
        new_names.setdefault(system, f"{system}@{model}" if by_model else f"{system} ({run})")
    return [
        replace(each, system=new_names[each.system], facets={**each.facets, SYSTEM: new_names[each.system]})
        if each.system in new_names
        else each
        for each in group
    ]


def _has(group: Sequence[Outcome], system: str) -> bool:
    return any(outcome.system == system for outcome in group)


def _check_same_data(one: NamedRun, other: NamedRun) -> None:
    """Raise `SettingError` unless two runs have the same data and settings.

    The fingerprints of the runs may differ only because of the corpus, which only some systems read. Then all cases
    must have the same content and settings.
    """
    if one.results["run"]["fingerprint"] == other.results["run"]["fingerprint"]:
        return
    testbeds, other_testbeds = one.run.plan.testbeds, other.run.plan.testbeds
    for nodeid in sorted({*testbeds, *other_testbeds}):
        if nodeid not in testbeds or nodeid not in other_testbeds:
            raise _difference_error(one, other, f"the testbed {nodeid}, which only one of them has")
        settings, other_settings = testbeds[nodeid].settings, other_testbeds[nodeid].settings
        for name in sorted({*settings, *other_settings}):
            if settings.get(name) != other_settings.get(name):
                values = " and ".join(each.get(name, "not given") for each in (settings, other_settings))
                raise _difference_error(one, other, f"{name} of {testbeds[nodeid].name} ({values})")
    cases, other_cases = ({key_of(each): each.data for each in part.run.of_systems()} for part in (one, other))
    if cases != other_cases:
        key = next(key for key in (*cases, *other_cases) if cases.get(key) != other_cases.get(key))
        raise _difference_error(one, other, f"the data of the case {key[1]}")


def _difference_error(one: NamedRun, other: NamedRun, what: str) -> SettingError:
    return SettingError(
        f"{one.name} and {other.name} differ in {what}; name runs of the same data and settings", code="RAG503"
    )
