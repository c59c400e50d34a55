"""The types of right and wrong answers of a run: shares, averages, reasons, tools."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import fmean
from typing import Literal, NamedTuple

from pytest_rageval.analysis.clusters import mean_over
from pytest_rageval.analysis.statistics import Interval
from pytest_rageval.errors import SettingError, UnknownNameError
from pytest_rageval.metrics.diagnosis.diagnose import RIGHT, WRONG, has_record
from pytest_rageval.model.facets import ABILITIES, sort_key
from pytest_rageval.model.outcome import DiagnosisType, Outcome
from pytest_rageval.trace.steps import has_failed, tool_calls

__all__ = [
    "COLUMNS", "Average", "Diagnosed", "ErrorAnalysis", "Group", "Reason", "SharedFailure", "ToolUse", "analyze",
    "level_macro", "micro", "percents", "task_macro", "without_type",
]  # fmt: skip

Average = Literal["micro", "task_macro", "level_macro"]

COLUMNS: Mapping[str, tuple[DiagnosisType, ...]] = {
    "ACC": RIGHT,
    **{each: (each,) for each in RIGHT},
    "WA": WRONG,
    **{each: (each,) for each in WRONG},
}
"""Column -> the types that it counts."""

NAMED = 5
"""Number of reasons that are listed for each wrong type."""

Shares = Mapping[str, float]


class Diagnosed(NamedTuple):
    """An outcome with the type of its answer."""

    outcome: Outcome
    type: DiagnosisType
    why: str


@dataclass(frozen=True, slots=True)
class Group:
    """The types of some answers.

    Attributes:
        system: their system.
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


class Reason(NamedTuple):
    """A reason of a wrong type: how often it occurs, and one of its cases."""

    system: str
    type: DiagnosisType
    why: str
    n: int
    nodeid: str


class ToolUse(NamedTuple):
    """How a system used a tool: calls, failed calls, and the share of runs that called it."""

    system: str
    tool: str
    calls: int
    failed: int
    runs: int
    share_of_runs: float


class SharedFailure(NamedTuple):
    """In how many of a system's answers of type TE a tool failed."""

    system: str
    tool: str
    cases: int
    of: int


@dataclass(frozen=True, slots=True)
class ErrorAnalysis:
    """The error analysis of a run.

    Attributes:
        by: the facet whose values are groups; None if systems are.
        average: how shares are averaged.
        groups: the types of each system, or of each system and value.
        reasons: the commonest reasons of each wrong type.
        tools: the use of each tool.
        te_tools: the tools that failed in answers of type TE, most frequent first.
    """

    by: str | None
    average: Average
    groups: Sequence[Group]
    reasons: Sequence[Reason]
    tools: Sequence[ToolUse]
    te_tools: Sequence[SharedFailure]


def analyze(cases: Sequence[Diagnosed], outcomes: Sequence[Outcome], by: str | None, average: Average) -> ErrorAnalysis:
    """Return the error analysis of diagnosed cases.

    Args:
        cases: the outcomes with a type.
        outcomes: all outcomes, also those without a type.
        by: the facet whose values are groups; None for one group a system.
        average: how shares are averaged.

    Raises:
        SettingError: no case has the facet, or one lacks a facet that the average needs.
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
        [reason for system in systems for reason in _reasons(system, cases)],
        [use for system in systems for use in _tools(system, cases)],
        [failure for system in systems for failure in _shared_failures(system, cases)],
    )


def percents(counts: Mapping[DiagnosisType, int]) -> dict[DiagnosisType, int]:
    """Return the counts as whole percents that sum to 100, by the largest remainder; all 0 without a count.

    Equal remainders are filled in the order of the types.
    """
    total = sum(counts.values())
    if not total:
        return dict.fromkeys(counts, 0)
    exact = {name: Fraction(100 * count, total) for name, count in counts.items()}
    whole = {name: int(each) for name, each in exact.items()}
    missing = 100 - sum(whole.values())
    for name in sorted(exact, key=lambda name: whole[name] - exact[name])[:missing]:
        whole[name] += 1
    return whole


def micro(types: Iterable[str]) -> Shares | None:
    """Return the share of each column over answers; None without answers."""
    counts = Counter(types)
    total = counts.total()
    if not total:
        return None
    return {column: sum(counts[each] for each in members) / total for column, members in COLUMNS.items()}


def task_macro(tasks: Iterable[Shares | None]) -> Shares | None:
    """Return the mean of each column over tasks; None if a task is missing."""
    known = list(tasks)
    present = [shares for shares in known if shares is not None]
    if not present or len(present) < len(known):
        return None
    return {column: fmean(shares[column] for shares in present) for column in present[0]}


def level_macro(cells: Iterable[Iterable[Shares | None]]) -> Shares | None:
    """Return the mean of each column over the cells of domain and level, each the mean over its tasks.

    None if a task of a cell is missing.
    """
    return task_macro([task_macro(tasks) for tasks in cells])


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


def _values(cases: Sequence[Diagnosed], by: str | None) -> list[str | None]:
    if by is None:
        return [None]
    return [*sorted({each.outcome.facets.get(by, "-") for each in cases}, key=sort_key)]


def _group(
    system: str,
    value: str | None,
    cases: Sequence[Diagnosed],
    outcomes: Sequence[Outcome],
    by: str | None,
    average: Average,
) -> Group:
    def is_mine(outcome: Outcome) -> bool:
        return outcome.system == system and (by is None or outcome.facets.get(by, "-") == value)

    mine = [each for each in cases if is_mine(each.outcome)]
    counts = Counter(each.type for each in mine)
    shares = _averaged(mine, cases, average, by, value)
    ci95 = {} if average != "micro" else {column: _interval(mine, members) for column, members in COLUMNS.items()}
    others = without_type(outcome for outcome in outcomes if is_mine(outcome))
    return Group(system, value, len(mine), {each: counts[each] for each in (*RIGHT, *WRONG)}, shares, ci95, others)


def _averaged(
    mine: Sequence[Diagnosed], cases: Sequence[Diagnosed], average: Average, by: str | None, value: str | None
) -> Shares | None:
    if average == "micro":
        return micro(each.type for each in mine)
    expected = [each.outcome for each in cases if by is None or each.outcome.facets.get(by, "-") == value]
    if average == "task_macro":
        return task_macro([_of_task(mine, task=task) for task in _distinct(expected, "task")])
    cells = [(cell[0], cell[1]) for cell in dict.fromkeys((o.facets["domain"], o.facets["level"]) for o in expected)]
    by_cell = []
    for domain, level in cells:
        inside = [o for o in expected if (o.facets["domain"], o.facets["level"]) == (domain, level)]
        by_cell.append([_of_task(mine, domain=domain, level=level, task=task) for task in _distinct(inside, "task")])
    return level_macro(by_cell)


def _of_task(mine: Sequence[Diagnosed], **facets: str) -> Shares | None:
    return micro(
        each.type for each in mine if all(each.outcome.facets.get(name) == value for name, value in facets.items())
    )


def _distinct(outcomes: Iterable[Outcome], facet: str) -> list[str]:
    return list(dict.fromkeys(outcome.facets[facet] for outcome in outcomes))


def _check_facets(cases: Sequence[Diagnosed], average: Average) -> None:
    needed = {"micro": (), "task_macro": ("task",), "level_macro": ("domain", "level", "task")}[average]
    for facet in needed:
        missing = sum(facet not in each.outcome.facets for each in cases)
        if missing:
            raise SettingError(
                f"--average {average} needs the facet {facet}, and {missing} of {len(cases)} answers lack it"
            )


def _interval(mine: Sequence[Diagnosed], members: tuple[DiagnosisType, ...]) -> Interval | None:
    values = [float(each.type in members) for each in mine]
    return mean_over([each.outcome for each in mine], values, binary=True).ci95


def _reasons(system: str, cases: Sequence[Diagnosed]) -> list[Reason]:
    reasons = []
    for kind in WRONG:
        mine = [each for each in cases if each.outcome.system == system and each.type == kind and each.why]
        for why, n in Counter(each.why for each in mine).most_common(NAMED):
            nodeid = next(each.outcome.nodeid for each in mine if each.why == why)
            reasons.append(Reason(system, kind, why, n, nodeid))
    return reasons


def _tools(system: str, cases: Sequence[Diagnosed]) -> list[ToolUse]:
    calls, failed, runs = Counter[str](), Counter[str](), Counter[str]()
    mine = [each.outcome for each in cases if each.outcome.system == system]
    for outcome in mine:
        steps = [] if outcome.answer is None else tool_calls(outcome.answer.trace)
        names = [str(step.detail.get("name") or "-") for step in steps]
        calls.update(names)
        failed.update(name for name, step in zip(names, steps, strict=True) if has_failed(step))
        runs.update(set(names))
    return [
        ToolUse(system, name, n, failed[name], runs[name], runs[name] / len(mine)) for name, n in calls.most_common()
    ]


def _shared_failures(system: str, cases: Sequence[Diagnosed]) -> list[SharedFailure]:
    answers = [each.outcome.answer for each in cases if each.outcome.system == system and each.type == "TE"]
    tools = Counter[str]()
    for answer in answers:
        steps = () if answer is None else tool_calls(answer.trace)
        tools.update({str(step.detail.get("name") or "-") for step in steps if has_failed(step)})
    return [SharedFailure(system, tool, n, len(answers)) for tool, n in tools.most_common()]
