"""The section on correlations of retrieval metrics with answer metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_rageval.analysis.statistics import Interval
from pytest_rageval.report.run.cell_json import encode_interval
from pytest_rageval.report.run.plan import TestbedPlan
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.summary_data import MetricCorrelation, shows_correlations
from pytest_rageval.report.sections.section import Section, Table
from pytest_rageval.report.text.lines import Line, interval
from pytest_rageval.report.text.tables import MAX_SHOWN, labels_of

__all__ = ["CORRELATIONS"]

TITLE = "correlations of retrieval with answers - Kendall's tau-b, Spearman's rho [95 %]"

WHY = {"too_few": "n < 3", "constant": "one is constant"}
"""Why a correlation is undefined."""


def _tables(rows: Sequence[MetricCorrelation], testbeds: Mapping[str, TestbedPlan]) -> Iterator[Table]:
    """Yield a table of the correlations of each testbed with an ``erag:`` metric."""
    visible = [each for each in rows if shows_correlations(testbeds[each.testbed])]
    shown = visible[:MAX_SHOWN]
    if not shown:
        return
    correlations = [each.correlation for each in shown]
    columns = [
        ["testbed", *labels_of([(testbeds[each.testbed].name, each.system) for each in shown])],
        ["retrieval", *(each.retrieval for each in shown)],
        ["answer", *(each.downstream for each in shown)],
        ["n", *(str(each.n) for each in correlations)],
        ["tau-b", *("undefined" if e.tau_b is None else _estimate(e.tau_b, e.tau_b_ci95) for e in correlations)],
        ["rho", *(WHY[e.reason or ""] if e.rho is None else _estimate(e.rho, e.rho_ci95) for e in correlations)],
    ]
    more = len(visible) - MAX_SHOWN
    yield Table(TITLE, columns, [Line(f"... {more} more in results.json")] if more > 0 else ())


def _estimate(value: float, ci95: Interval | None) -> str:
    return f"{value:+.2f} {interval(ci95)}"


def _encode(rows: Sequence[MetricCorrelation]) -> list[dict[str, Any]]:
    return [_encode_row(each) for each in rows]


def _encode_row(each: MetricCorrelation) -> dict[str, Any]:
    correlation = each.correlation
    return {
        "testbed": each.testbed,
        "system": each.system,
        "retrieval": each.retrieval,
        "downstream": each.downstream,
        "n": correlation.n,
        "tau_b": {"value": correlation.tau_b, "ci95": encode_interval(correlation.tau_b_ci95)},
        "rho": {"value": correlation.rho, "ci95": encode_interval(correlation.rho_ci95)},
    } | ({"reason": correlation.reason} if correlation.reason else {})


CORRELATIONS = Section(
    "correlations",
    MetricCorrelation,
    Run.correlations,
    _tables,
    encode=_encode,
    shown_for=shows_correlations,
    in_markdown=False,
    on_page=False,
    top_level=True,
)
