"""The section on noise curves: a metric at each noise rate."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.summary_data import curves as curves_of
from pytest_rageval.report.sections.section import Screen, TerminalSection
from pytest_rageval.report.text.lines import Line
from pytest_rageval.report.text.tables import curve_lines

__all__ = ["CURVES"]


def _lines(run: Run, screen: Screen) -> Iterator[Line]:
    curves = curves_of(run.plan, run.originals())
    several = len({system for _, system, _, _ in curves}) > 1
    for metric in dict.fromkeys(metric for _, _, metric, _ in curves):
        binary = run.plan.metrics.get(metric, MetricInfo()).binary
        rows = [
            (f"{name} ({system})" if several else name, binary, group)
            for name, system, its_metric, group in curves
            if its_metric == metric
        ]
        yield Line("")
        yield Line(f"{metric} over noise rates")
        yield from curve_lines(rows, metric, screen.width)


CURVES = TerminalSection(_lines)
