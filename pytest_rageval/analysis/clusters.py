"""Group the repeats of each case: the case, not the single run, is the unit of every mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from pytest_rageval.analysis.statistics import Mean, clustered_interval, mean_of, mean_of_cases
from pytest_rageval.analysis.units import Units, are_separate, units_of_outcomes
from pytest_rageval.model.facets import KNEW, OF_SYSTEMS
from pytest_rageval.model.outcome import Outcome

__all__ = ["REPEAT", "by_case", "case_names", "has_repeats", "mean_over", "over_units", "pairs_of"]

REPEAT = "repeat"
"""The facet that numbers the repeats of a case, from "1"; absent if each case runs once."""

_RUN_FACETS = (REPEAT, KNEW)
"""Facets of a single run, not of its case: every repeat checks again whether the model knew the answer."""

REALISED = "_realised"
"""Suffix of facets with the realised value of a setting, which repeat the setting itself."""

Key = tuple[str, str, str, tuple[str, ...], tuple[str, ...]]


def has_repeats(outcomes: Sequence[Outcome]) -> bool:
    """Return whether the session repeats its cases, so that each outcome is one repeat."""
    return bool(outcomes) and REPEAT in outcomes[0].facets


def by_case(outcomes: Iterable[Outcome]) -> dict[Key, list[Outcome]]:
    """Return the outcomes of each case under one testbed, system and setting, in their order."""
    cases: dict[Key, list[Outcome]] = {}
    for outcome in outcomes:
        cases.setdefault(_key(outcome), []).append(outcome)
    return cases


def pairs_of(outcomes: Iterable[Outcome], system: str) -> list[tuple[list[Outcome], list[Outcome]]]:
    """Return the outcomes of each case (in one testbed and setting) under ``system``, and under any other system."""
    cases: dict[Key, tuple[list[Outcome], list[Outcome]]] = {}
    for outcome in outcomes:
        cases.setdefault(_key(outcome, any_system=True), ([], []))[outcome.system != system].append(outcome)
    return list(cases.values())


def mean_over(outcomes: Sequence[Outcome], values: Sequence[float | None], *, binary: bool, low: float = 0.0) -> Mean:
    """Return the mean of the known values of outcomes, in low..1; for repeated cases see `mean_of_cases`.

    The interval is over independent units, see `pytest_rageval.analysis.units`.
    """
    if not has_repeats(outcomes):
        single = [value for value in values if value is not None]
        known = (
            outcomes
            if len(single) == len(outcomes)
            else [o for o, v in zip(outcomes, values, strict=True) if v is not None]
        )
        mean = mean_of(single, binary=binary, low=low)
        if are_separate(known):
            return mean
        return over_units(mean, units_of_outcomes(known), single, binary=binary, low=low)
    valued = [(outcome, value) for outcome, value in zip(outcomes, values, strict=True) if value is not None]
    cases: dict[Key, list[float]] = {}
    first: dict[Key, Outcome] = {}
    for outcome, value in valued:
        key = _key(outcome)
        first.setdefault(key, outcome)
        cases.setdefault(key, []).append(value)
    mean = mean_of_cases(list(cases.values()), binary=binary, low=low)
    means = [fmean(each) for each in cases.values()]
    return over_units(mean, units_of_outcomes(list(first.values())), means, binary=binary, low=low)


def over_units(mean: Mean, units: Units, values: Sequence[float], *, binary: bool, low: float) -> Mean:
    """Return a mean with its interval computed over independent units, if some units have several values.

    Args:
        mean: the mean of the values, as if each were independent.
        units: the unit of each value.
        values: the values, in low..1.
        binary: whether the values are 0 or 1.
        low: the lowest possible value.
    """
    if units.n == len(values):
        return mean
    interval = clustered_interval(list(units.grouped(values).values()), binary=binary, low=low)
    return replace(mean, ci95=interval, n_units=units.n if units.facet else None, unit=units.facet)


def case_names(cases: Sequence[Sequence[Outcome]]) -> list[str]:
    """Return each case's id; cases with the same id also get their differing facets: ``q1 (noise_rate=0.4)``."""
    by_id: dict[str, list[Mapping[str, str]]] = {}
    for case in cases:
        by_id.setdefault(case[0].case_id, []).append(case[0].facets)
    return [_name(case[0], by_id[case[0].case_id]) for case in cases]


def _key(outcome: Outcome, *, any_system: bool = False) -> Key:
    facets = dict(outcome.facets)
    for name in (*_RUN_FACETS, *OF_SYSTEMS) if any_system else _RUN_FACETS:
        facets.pop(name, None)
    return outcome.testbed, "" if any_system else outcome.system, outcome.case_id, tuple(facets), tuple(facets.values())


def _name(outcome: Outcome, namesakes: Sequence[Mapping[str, str]]) -> str:
    if len(namesakes) == 1:
        return outcome.case_id
    differences = {
        key: value
        for key, value in outcome.facets.items()
        if key not in _RUN_FACETS and any(other.get(key) != value for other in namesakes)
    }
    settings = {key: value for key, value in differences.items() if not key.endswith(REALISED)} or differences
    text = ", ".join(f"{key}={value}" for key, value in settings.items())
    return f"{outcome.case_id} ({text})" if differences else outcome.case_id
