"""Format the error analysis of a run as lines for a terminal, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pytest_rageval.analysis.error_types import ErrorAnalysis, Group
from pytest_rageval.analysis.type_shares import COLUMNS
from pytest_rageval.errors import ascii_safe
from pytest_rageval.metrics.diagnosis.diagnose import WORDS
from pytest_rageval.report.text.lines import Line, counted, wrap
from pytest_rageval.report.text.tables import ABSENT, blocks_of, table_lines

__all__ = ["NOT_COMPARABLE", "errors_lines", "errors_to_plain"]

NOT_COMPARABLE = (
    "types by R-Eval's published rule, from the traces; they are not comparable with the types of other reports, "
    "because the rule also finds the gold answer in the model's own words"
)

_HEADS: dict[str, str] = {"ACC": "right", "WA": "wrong"} | {str(kind): words for kind, words in WORDS.items()}


def errors_lines(analysis: ErrorAnalysis, width: int, *, compat: bool) -> Iterator[str]:
    """Yield the error analysis for a terminal of ``width`` columns."""
    if compat:
        yield from _wrapped(NOT_COMPARABLE, width)
    yield ""
    yield from _wrapped(_title(analysis), width)
    for block in blocks_of(_labels(), [_column(group, analysis) for group in analysis.groups], width):
        yield ""
        yield from block
    yield from _missing(analysis, width)
    yield from _reasons(analysis)
    yield from _tools(analysis)
    yield from _shared(analysis, width)


def errors_to_plain(analysis: ErrorAnalysis, run: str, *, compat: bool) -> dict[str, Any]:
    """Return the error analysis as JSON values."""
    return {
        "run": run,
        "rule": "reval" if compat else "rageval",
        "comparable": not compat,
        "by": analysis.by,
        "average": analysis.average,
        "groups": [_plain_group(group) for group in analysis.groups],
        "reasons": [each._asdict() for each in analysis.reasons],
        "tools": [each._asdict() for each in analysis.tools],
        "te_tools": [each._asdict() for each in analysis.te_tools],
    }


def _plain_group(group: Group) -> dict[str, Any]:
    return {
        "system": group.system,
        "value": group.value,
        "n": group.n,
        "without_type": dict(group.without_type),
        "types": {
            column: {
                "n": sum(group.counts[each] for each in members),
                "share": None if group.shares is None else group.shares[column],
                "ci95": group.ci95.get(column),
            }
            for column, members in COLUMNS.items()
        },
    }


def _title(analysis: ErrorAnalysis) -> str:
    if analysis.average == "micro":
        return "types - % of the answers [95 % interval]"
    what = "tasks" if analysis.average == "task_macro" else "cells of domain and level, each the mean of its tasks"
    return f"types - mean % over {what}; {ABSENT} if one is missing"


def _labels() -> list[str]:
    return ["type", "n", *(f"{column} {_HEADS[column]}" for column in COLUMNS)]


def _column(group: Group, analysis: ErrorAnalysis) -> list[str]:
    label = group.system if group.value is None else f"{group.system} {analysis.by}={group.value}"
    return [label, str(group.n), *(_share(group, column) for column in COLUMNS)]


def _share(group: Group, column: str) -> str:
    """Return ``57 [48, 66]``, in percent."""
    if group.shares is None:
        return ABSENT
    value, ci95 = group.shares[column], group.ci95.get(column)
    if not group.ci95:
        return f"{100 * value:.1f}"
    return f"{100 * value:.0f}" + (f" [{100 * ci95[0]:.0f}, {100 * ci95[1]:.0f}]" if ci95 is not None else "")


def _missing(analysis: ErrorAnalysis, width: int) -> Iterator[str]:
    lines = [
        f"{_column(group, analysis)[0]}: {sum(group.without_type.values())} without a type ("
        + ", ".join(f"{reason} {n}" for reason, n in group.without_type.items())
        + ")"
        for group in analysis.groups
        if group.without_type
    ]
    if lines:
        yield ""
    for line in lines:
        yield from _wrapped(line, width)


def _reasons(analysis: ErrorAnalysis) -> Iterator[str]:
    rows = [[each.system, each.type, str(each.n), each.why, each.nodeid] for each in analysis.reasons]
    yield from _table("reasons of wrong answers", [["system", "type", "n", "why", "for instance"], *rows])


def _tools(analysis: ErrorAnalysis) -> Iterator[str]:
    rows = [
        [each.system, each.tool, str(each.calls), str(each.failed), f"{100 * each.share_of_runs:.0f} %"]
        for each in analysis.tools
    ]
    yield from _table("tools", [["system", "tool", "calls", "failed", "runs that call it"], *rows], left=2)


def _shared(analysis: ErrorAnalysis, width: int) -> Iterator[str]:
    systems = {each.system: each.of for each in analysis.te_tools}
    if systems:
        yield ""
    for system, n in systems.items():
        tools = ", ".join(f"{each.tool} in {each.cases}" for each in analysis.te_tools if each.system == system)
        yield from _wrapped(f"{system}: tools that failed in its {counted(n, 'TE answer')}: {tools}", width)


def _table(title: str, rows: Sequence[Sequence[str]], left: int = 5) -> Iterator[str]:
    if len(rows) > 1:
        yield from ("", title, "")
        yield from table_lines(rows, left=left)


def _wrapped(text: str, width: int) -> Iterator[str]:
    yield from (line.text for line in wrap(Line(ascii_safe(text)), width))
