"""Align the scores of several systems by case."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from pytest_rageval.analysis.baseline.snapshot import facets_of_case
from pytest_rageval.analysis.cells import Cell, cell_of, value_of
from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.analysis.units import units_of_outcomes
from pytest_rageval.model.facets import MODEL, SYSTEM, WORKFLOW
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.systems import WORKFLOWS

__all__ = ["NO_VALUE", "Board", "Candidate", "Key", "board_of", "candidates_of", "key_of"]

NO_VALUE = "-"
"""The value of a facet that a system or a case lacks."""

Key = tuple[str, str, tuple[tuple[str, str], ...]]
"""A case under any system: its testbed, its id and the facets of its setting."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A system to compare.

    Attributes:
        name: its name.
        workflow: the system's workflow, such as "rag" or "react"; its name if unknown.
        model: the name of its model; `NO_VALUE` if there is none or it is unknown. Several names are joined by ``+``.
    """

    name: str
    workflow: str
    model: str = NO_VALUE

    def value(self, facet: str) -> str:
        """Return its value of a facet in `OF_SYSTEMS`."""
        return {SYSTEM: self.name, WORKFLOW: self.workflow, MODEL: self.model}[facet]


@dataclass(frozen=True, slots=True)
class Board:
    """The scores of several systems by one metric.

    Attributes:
        metric: the metric.
        info: its metadata.
        candidates: the systems, in the order of the outcomes.
        outcomes: system -> its outcomes without skipped ones.
        scores: system -> case -> mean over the repeats with a value; no key without a value.
        facets: case -> its facets, without the facets of systems.
        units: case -> the independent unit that it belongs to.
    """

    metric: str
    info: MetricInfo
    candidates: tuple[Candidate, ...]
    outcomes: Mapping[str, Sequence[Outcome]]
    scores: Mapping[str, Mapping[Key, float]]
    facets: Mapping[Key, Mapping[str, str]]
    units: Mapping[Key, Hashable]

    def cell(self, system: str, among: Callable[[Outcome], bool] = lambda outcome: True) -> Cell | None:
        """Return the metric of a system over the outcomes that ``among`` accepts; None without such outcomes."""
        chosen = [outcome for outcome in self.outcomes[system] if among(outcome)]
        return cell_of(self.metric, self.info.binary, chosen) if chosen else None

    def better(self, one: float, other: float) -> bool:
        """Return whether one value of the metric is better than another."""
        return one > other if self.info.higher_is_better else one < other

    def best(self, values: Iterable[float]) -> float:
        """Return the best of some values of the metric."""
        return max(values) if self.info.higher_is_better else min(values)

    def cases(self, where: Mapping[str, str]) -> list[Key]:
        """Return the cases that have these facet values; `NO_VALUE` matches cases without the facet."""
        return [
            key
            for key, facets in self.facets.items()
            if all(facets.get(name, NO_VALUE) == value for name, value in where.items())
        ]


def board_of(outcomes: Iterable[Outcome], metric: str, info: MetricInfo) -> Board:
    """Return the scores of a metric by system and case. Repeats of a case are averaged."""
    by_system: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.status != "skipped":
            by_system.setdefault(outcome.system, []).append(outcome)
    scores: dict[str, dict[Key, float]] = {}
    first: dict[Key, Outcome] = {}
    for system, of_system in by_system.items():
        values: dict[Key, list[float]] = {}
        for outcome in of_system:
            key = key_of(outcome)
            first.setdefault(key, outcome)
            value = value_of(metric, outcome) if outcome.status == "scored" else None
            if value is not None:
                values.setdefault(key, []).append(value)
        scores[system] = {key: fmean(each) for key, each in values.items()}
    return Board(
        metric=metric,
        info=info,
        candidates=candidates_of(by_system),
        outcomes=by_system,
        scores=scores,
        facets={key: dict(key[2]) for key in first},
        units=_units(first),
    )


def candidates_of(by_system: Mapping[str, Sequence[Outcome]]) -> tuple[Candidate, ...]:
    """Return the systems with their workflows and models, which outcomes of older versions lack."""
    return tuple(
        Candidate(name, _label(of_system, WORKFLOW) or WORKFLOWS.get(name, name), _label(of_system, MODEL) or NO_VALUE)
        for name, of_system in by_system.items()
    )


def key_of(outcome: Outcome) -> Key:
    """Return the key of an outcome's case, which is the same under every system."""
    return outcome.testbed, outcome.case_id, tuple(sorted(facets_of_case(outcome.facets).items()))


def _label(outcomes: Sequence[Outcome], facet: str) -> str:
    return "+".join(dict.fromkeys(outcome.facets[facet] for outcome in outcomes if facet in outcome.facets))


def _units(first: Mapping[Key, Outcome]) -> dict[Key, Hashable]:
    """Return the unit of each case; it does not depend on the system."""
    units = units_of_outcomes(list(first.values()), across_systems=True)
    return dict(zip(first, units.names, strict=True))
