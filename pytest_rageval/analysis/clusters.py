"""Repeats of a case belong together: the case, not the single run of it, is the unit of every mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from pytest_rageval.analysis.statistics import Mean, clustered_interval, mean_of, mean_of_cases
from pytest_rageval.analysis.units import Units, units_of_outcomes
from pytest_rageval.model.facets import KNEW
from pytest_rageval.model.outcome import Outcome

__all__ = ["REPEAT", "by_case", "case_names", "mean_over", "over_units", "pairs_of", "repeated"]

REPEAT = "repeat"
"""The facet that numbers the repeats of a case, from "1"; no case has it where each is asked once."""

_OF_A_RUN = (REPEAT, KNEW)
"""Facets of a single run, not of its case: whether the model knew the answer is found out anew in each repeat."""

REALISED = "_realised"
"""Ends the facets of what became of a setting, which say nothing where the setting is told."""

Key = tuple[str, str, str, tuple[str, ...], tuple[str, ...]]


def repeated(outcomes: Sequence[Outcome]) -> bool:
    """Return whether the outcomes are of a session that repeats its cases: each of them then is a repeat."""
    return bool(outcomes) and REPEAT in outcomes[0].facets


def by_case(outcomes: Iterable[Outcome]) -> dict[Key, list[Outcome]]:
    """Return the outcomes of each case under one testbed, system and setting, in the order they are given."""
    cases: dict[Key, list[Outcome]] = {}
    for outcome in outcomes:
        cases.setdefault(_key(outcome), []).append(outcome)
    return cases


def pairs_of(outcomes: Iterable[Outcome], system: str) -> list[tuple[list[Outcome], list[Outcome]]]:
    """Return of each case, under one testbed and setting, its outcomes under ``system`` and those under any other."""
    cases: dict[Key, tuple[list[Outcome], list[Outcome]]] = {}
    for outcome in outcomes:
        cases.setdefault(_key(outcome, of_case=True), ([], []))[outcome.system != system].append(outcome)
    return list(cases.values())


def mean_over(outcomes: Sequence[Outcome], values: Sequence[float | None], *, binary: bool, low: float = 0.0) -> Mean:
    """Return the mean of the outcomes' values in low..1, None left out; see `mean_of_cases` where cases repeat.

    The interval is over independent units, see `pytest_rageval.analysis.units`.
    """
    told = [(outcome, value) for outcome, value in zip(outcomes, values, strict=True) if value is not None]
    if not repeated(outcomes):
        single = [value for _, value in told]
        units = units_of_outcomes([outcome for outcome, _ in told])
        return over_units(mean_of(single, binary=binary, low=low), units, single, binary=binary, low=low)
    cases: dict[Key, list[float]] = {}
    first: dict[Key, Outcome] = {}
    for outcome, value in told:
        key = _key(outcome)
        first.setdefault(key, outcome)
        cases.setdefault(key, []).append(value)
    mean = mean_of_cases(list(cases.values()), binary=binary, low=low)
    means = [fmean(each) for each in cases.values()]
    return over_units(mean, units_of_outcomes(list(first.values())), means, binary=binary, low=low)


def over_units(mean: Mean, units: Units, values: Sequence[float], *, binary: bool, low: float) -> Mean:
    """Return a mean with the interval over independent units, if some of them have several values.

    Args:
        mean: the mean of the values, as if each were independent.
        units: the unit of each value.
        values: the values, in low..1.
        binary: whether the values are 0 or 1.
        low: the least that a value can be.
    """
    if units.n == len(values):
        return mean
    interval = clustered_interval(list(units.grouped(values).values()), binary=binary, low=low)
    return replace(mean, ci95=interval, n_units=units.n if units.facet else None, unit=units.facet)


def case_names(cases: Sequence[Sequence[Outcome]]) -> list[str]:
    """Return each case's id; where several bear it, with the facets in which they differ: ``q1 (noise_rate=0.4)``."""
    by_id: dict[str, list[Mapping[str, str]]] = {}
    for case in cases:
        by_id.setdefault(case[0].case_id, []).append(case[0].facets)
    return [_name(case[0], by_id[case[0].case_id]) for case in cases]


def _key(outcome: Outcome, *, of_case: bool = False) -> Key:
    facets = dict(outcome.facets)
    for name in (*_OF_A_RUN, "system") if of_case else _OF_A_RUN:
        facets.pop(name, None)
    return outcome.testbed, "" if of_case else outcome.system, outcome.case_id, tuple(facets), tuple(facets.values())


def _name(outcome: Outcome, namesakes: Sequence[Mapping[str, str]]) -> str:
    if len(namesakes) == 1:
        return outcome.case_id
    apart = {
        key: value
        for key, value in outcome.facets.items()
        if key not in _OF_A_RUN and any(other.get(key) != value for other in namesakes)
    }
    asked = {key: value for key, value in apart.items() if not key.endswith(REALISED)} or apart
    named = ", ".join(f"{key}={value}" for key, value in asked.items())
    return f"{outcome.case_id} ({named})" if apart else outcome.case_id
