"""Analyze errors: the types of right and wrong answers by group, and why answers are wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pytest_rageval.analysis.clusters import mean_over
from pytest_rageval.analysis.error_causes import (
    Reason,
    SharedFailure,
    ToolUse,
    reasons_of,
    shared_failures_of,
    tools_of,
)
from pytest_rageval.analysis.statistics import Interval
from pytest_rageval.analysis.type_shares import COLUMNS, DiagnosedOutcome, Shares, level_macro, micro, task_macro
from pytest_rageval.errors import SettingError, UnknownNameError
from pytest_rageval.metrics.diagnosis.diagnose import RIGHT, WRONG, has_record
from pytest_rageval.model.facets import ABILITIES, sort_key
from pytest_rageval.model.outcome import DiagnosisType, Outcome

__all__ = ["Average", "ErrorAnalysis", "Group", "analyze", "without_type"]

Average = Literal["micro", "task_macro", "level_macro"]


@dataclass(frozen=True, slots=True)
class Group:
    """The types of the answers of one group.

    Attributes:
        system: the system that answered.
        value: the value of the facet that groups them; None without a facet.
        n: number of answers.
        counts: type -> number of answers.
        shares: column -> share of the answers; None if a cell of a macro average is missing.
        ci95: column -> 95 % interval of its share; empty for macro averages.
        without_type: reason -> number of outcomes that have no type.
    """

    system: str
    value: str | None
    n: int
    counts: Mapping[str, int]
    shares: Shares | None
    ci95: Mapping[str, Interval | None]
    without_type: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ErrorAnalysis:
    """The error analysis of a run.

    Attributes:
        by: the facet whose values form the groups; None if each system is one group.
        average: how shares are averaged.
        groups: the types of each system, or of each system and value.
        reasons: the most frequent reasons of each wrong type.
        tools: the use of each tool.
        te_tools: the tools that failed in answers of type TE, most frequent first.
    """

    by: str | None
    average: Average
    groups: Sequence[Group]
    reasons: Sequence[Reason]
    tools: Sequence[ToolUse]
    te_tools: Sequence[SharedFailure]


def analyze(
    cases: Sequence[DiagnosedOutcome], outcomes: Sequence[Outcome], by: str | None, average: Average
) -> ErrorAnalysis:
    """Return the error analysis of diagnosed cases.

    Args:
        cases: the outcomes with a type.
        outcomes: all outcomes, including those without a type.
        by: the facet whose values form the groups; None for one group for each system.
        average: how shares are averaged.

    Raises:
        SettingError: no case has the facet, or a case lacks a facet that the average needs.
    """
    known = {name for each in cases for name in each.outcome.facets} - {"system"}
    if by is not None and by not in known:
        raise UnknownNameError("facet", by, known, "--by")
    _check_facets(cases, average)
    systems = list(dict.fromkeys(each.outcome.system for each in cases))
    groups = [_group(system, value, cases, outcomes, by, average) for system in systems for value in _values(cases, by)]
    return ErrorAnalysis(
        by,
        average,
        [group for group in groups if group.n or group.without_type],
        [reason for system in systems for reason in reasons_of(system, cases)],
        [use for system in systems for use in tools_of(system, cases)],
        [failure for system in systems for failure in shared_failures_of(system, cases)],
    )


def without_type(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """Return how many outcomes have no type, by reason."""
    reasons = Counter(_reason(outcome) for outcome in outcomes if outcome.diagnosis is None)
    return dict(sorted(reasons.items()))


def _reason(outcome: Outcome) -> str:
    if outcome.status != "scored":
        return outcome.status
    reasons = (score.reason for name, score in outcome.scores.items() if name.startswith("diagnosis:"))
    known = next(filter(None, reasons), "")
    if known:
        return known.removeprefix("not_applicable: ")
    if outcome.facets.get("ability") in ABILITIES:
        return "ability_testbed"
    recorded = outcome.supplied or outcome.answer is None or has_record(outcome.answer)
    return "not_applicable" if recorded else "no_trace"


def _values(cases: Sequence[DiagnosedOutcome], by: str | None) -> list[str | None]:
    if by is None:
        return [None]
    return [*sorted({each.outcome.facets.get(by, "-") for each in cases}, key=sort_key)]


def _group(
    system: str,
    value: str | None,
    cases: Sequence[DiagnosedOutcome],
    outcomes: Sequence[Outcome],
    by: str | None,
    average: Average,
) -> Group:
    def in_group(outcome: Outcome) -> bool:
        return outcome.system == system and (by is None or outcome.facets.get(by, "-") == value)

    members = [each for each in cases if in_group(each.outcome)]
    counts = Counter(each.type for each in members)
    shares = _averaged(members, cases, average, by, value)
    ci95 = {} if average != "micro" else {column: _interval(members, types) for column, types in COLUMNS.items()}
    others = without_type(outcome for outcome in outcomes if in_group(outcome))
    return Group(system, value, len(members), {each: counts[each] for each in (*RIGHT, *WRONG)}, shares, ci95, others)


def _averaged(
    members: Sequence[DiagnosedOutcome],
    cases: Sequence[DiagnosedOutcome],
    average: Average,
    by: str | None,
    value: str | None,
) -> Shares | None:
    if average == "micro":
        return micro(each.type for each in members)
    expected = [each.outcome for each in cases if by is None or each.outcome.facets.get(by, "-") == value]
    if average == "task_macro":
        return task_macro([_of_task(members, task=task) for task in _distinct(expected, "task")])
    cells = [(cell[0], cell[1]) for cell in dict.fromkeys((o.facets["domain"], o.facets["level"]) for o in expected)]
    by_cell = []
    for domain, level in cells:
        inside = [o for o in expected if (o.facets["domain"], o.facets["level"]) == (domain, level)]
        by_cell.append([_of_task(members, domain=domain, level=level, task=task) for task in _distinct(inside, "task")])
    return level_macro(by_cell)


def _of_task(members: Sequence[DiagnosedOutcome], **facets: str) -> Shares | None:
    return micro(
        each.type for each in members if all(each.outcome.facets.get(name) == value for name, value in facets.items())
    )


def _distinct(outcomes: Iterable[Outcome], facet: str) -> list[str]:
    return list(dict.fromkeys(outcome.facets[facet] for outcome in outcomes))


def _check_facets(cases: Sequence[DiagnosedOutcome], average: Average) -> None:
    needed = {"micro": (), "task_macro": ("task",), "level_macro": ("domain", "level", "task")}[average]
    for facet in needed:
        missing = sum(facet not in each.outcome.facets for each in cases)
        if missing:
            raise SettingError(
                f"--average {average} needs the facet {facet}, and {missing} of {len(cases)} answers lack it"
            )


def _interval(members: Sequence[DiagnosedOutcome], types: tuple[DiagnosisType, ...]) -> Interval | None:
    values = [float(each.type in types) for each in members]
    return mean_over([each.outcome for each in members], values, binary=True).ci95
