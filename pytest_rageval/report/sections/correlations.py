"""Correlations of retrieval metrics with answer metrics in the summary."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rageval.analysis.statistics import Interval
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.summary_data import shows_correlations
from pytest_rageval.report.text.lines import Line, interval
from pytest_rageval.report.text.tables import MOST, table

__all__ = ["correlation_lines"]

WHY = {"too_few": "n < 3", "constant": "one is constant"}
"""Why a correlation is undefined."""


def correlation_lines(run: Run, width: int) -> Iterator[Line]:
    """Yield a table of the correlations of each testbed with an ``erag:`` metric."""
    testbeds = {key for key, testbed in run.plan.testbeds.items() if shows_correlations(testbed)}
    every = [each for each in run.correlations() if each.testbed in testbeds] if testbeds else []
    shown = every[:MOST]
    if not shown:
        return
    several = len({each.system for each in shown}) > 1
    names = [run.plan.testbeds[each.testbed].name for each in shown]
    labels = [f"{name} ({each.system})" if several else name for name, each in zip(names, shown, strict=True)]
    correlations = [each.correlation for each in shown]
    columns = [
        ["retrieval", *(each.retrieval for each in shown)],
        ["answer", *(each.downstream for each in shown)],
        ["n", *(str(each.n) for each in correlations)],
        ["tau-b", *("undefined" if e.tau_b is None else _estimate(e.tau_b, e.tau_b_ci95) for e in correlations)],
        ["rho", *(WHY[e.reason or ""] if e.rho is None else _estimate(e.rho, e.rho_ci95) for e in correlations)],
    ]
    yield Line("")
    yield Line("correlations of retrieval with answers - Kendall's tau-b, Spearman's rho [95 %]")
    yield from table(["testbed", *labels], columns, width)
    if len(every) > MOST:
        yield Line(f"... {len(every) - MOST} more in results.json")


def _estimate(value: float, ci95: Interval | None) -> str:
    return f"{value:+.2f} {interval(ci95)}"
