"""Compute a system's metrics for MLflow: over all its cases, by testbed, gate and cell."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from itertools import chain, product
from statistics import fmean

from pytest_rageval.analysis.cells import cell_of
from pytest_rageval.analysis.decisions.verdicts import GateResult
from pytest_rageval.analysis.gates import PSEUDO_METRICS, Gate
from pytest_rageval.analysis.matrix import Matrix, facet_values
from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.model.facets import ANY
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.export.mlflow.names import metric_name, name_part, testbed_names, unused_name
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.summary_data import MatrixChoice
from pytest_rageval.report.run.totals import totals_of

__all__ = ["metrics_of"]

SECONDS = "sec per query"  # RaLLe's name of the mean latency
ALL = "all"
NOISE_RATE = "noise_rate"
OPERATORS = {">=": "ge", ">": "gt", "<=": "le", "<": "lt"}


def metrics_of(run: Run, system: str, choice: MatrixChoice) -> dict[str, float]:
    """Return the metrics of one system of a run: name in MLflow -> value.

    No name is the folder of another, as ``a`` is of ``a/b``: MLflow's file store writes a file for each metric, in a
    folder for the part before a slash.
    """
    system_outcomes = [outcome for outcome in run.of_systems() if outcome.system == system]
    cells = [_cell_means(matrix, run.plan.metrics) for matrix in run.matrices(choice) if matrix.system in ("", system)]
    metrics: dict[str, float] = {}
    for name, value in chain(
        _means(run, system_outcomes), _testbed_means(run, system_outcomes), _gate_values(run, system), *cells
    ):
        metrics[unused_name(name, metrics)] = value
    return metrics


def _means(run: Run, outcomes: Sequence[Outcome]) -> Iterator[tuple[str, float]]:
    """Yield the means over all of a system's cases, with the numbers of scored and unscored cases."""
    for metric, info in run.plan.metrics.items():
        testbeds = {nodeid for nodeid, testbed in run.plan.testbeds.items() if metric in testbed.metrics}
        cell = cell_of(metric, info.binary, [outcome for outcome in outcomes if outcome.testbed in testbeds])
        name = metric_name(metric, run.plan.metrics)
        if cell.mean is not None:
            yield name, cell.mean
        if cell.n or cell.n_unscored:
            yield f"scored/{name}", float(cell.n)
            yield f"unscored/{name}", float(cell.n_unscored)
    for metric in sorted(PSEUDO_METRICS):
        mean = cell_of(metric, metric == "error_rate", outcomes).mean
        if mean is not None:
            yield metric, mean
    usages = [outcome.answer.usage for outcome in outcomes if outcome.answer and outcome.answer.usage]
    seconds = [usage.latency_s for usage in usages if usage.latency_s is not None]
    if seconds:
        yield SECONDS, fmean(seconds)


def _testbed_means(run: Run, outcomes: Sequence[Outcome]) -> Iterator[tuple[str, float]]:
    """Yield the means of each testbed, as ``testbeds/test_noise/accuracy``.

    A testbed with several noise rates also has the mean of each rate.
    """
    plan, names = run.plan, testbed_names({nodeid: each.name for nodeid, each in run.plan.testbeds.items()})
    for total in totals_of(plan, outcomes):
        if total.value is not None:
            name = f"testbeds/{names[total.testbed]}/{metric_name(total.metric, plan.metrics)}"
            yield name, total.value
            yield f"scored/{name}", float(total.n)
    for nodeid, testbed in plan.testbeds.items():
        testbed_outcomes = [outcome for outcome in outcomes if outcome.testbed == nodeid]
        rates = facet_values(NOISE_RATE, testbed_outcomes)
        for rate, metric in product(rates, testbed.metrics) if len(rates) > 1 else ():
            at_rate = [outcome for outcome in testbed_outcomes if outcome.facets.get(NOISE_RATE) == rate]
            mean = cell_of(metric, plan.metrics.get(metric, MetricInfo()).binary, at_rate).mean
            if mean is not None:
                rate_name = name_part(f"{NOISE_RATE}.{rate}")
                yield f"testbeds/{names[nodeid]}/{rate_name}/{metric_name(metric, plan.metrics)}", mean


def _gate_values(run: Run, system: str) -> Iterator[tuple[str, float]]:
    """Yield the values of gates, as ``gates/session/accuracy ge 0.9``.

    A gate with ``facet=*`` has the value of each cell and that of the worst cell.
    """
    for node in run.gates:
        result, gate = node.result, node.result.gate
        name = f"gates/{name_part(result.scope)}/{name_part(_gate_text(gate))}"
        facets = [facet for facet, value in gate.slice.items() if value == ANY and facet != "system"]
        values = [(name, each) for each in result.cells or (result,)]
        if facets:
            values = [(f"{name}/{_cell_name(cell, facets)}", cell) for cell in result.cells] + [
                (f"{name}/worst", result)
            ]
        for where, each in values:
            if each.value is not None and (each.slice or {}).get("system", system) == system:
                yield where, each.value


def _gate_text(gate: Gate) -> str:
    slices = [f"{facet}.{ALL if value == ANY else value}" for facet, value in gate.slice.items()]
    return " ".join([gate.metric.replace("@", "_at_"), *slices, OPERATORS[gate.op], gate.bound_text])


def _cell_name(cell: GateResult, facets: Sequence[str]) -> str:
    return name_part(" ".join(f"{facet}.{(cell.slice or {}).get(facet, '')}" for facet in facets))


def _cell_means(matrix: Matrix, metrics: Container[str]) -> Iterator[tuple[str, float]]:
    """Yield the means of a matrix's cells and margins, as ``cells/METRIC/topic.Funds/task.extractive_qa``."""
    groups = [group.name for group in matrix.groups for _ in range(group.n_rows)]
    rows = [name_part(f"{matrix.row_facet}.{name}") for name in matrix.rows]
    if groups:  # rows with the same name may belong to different groups
        rows = [
            name_part(f"{matrix.row_facet}.{group}.{name}") for group, name in zip(groups, matrix.rows, strict=True)
        ]
    cols = [name_part(f"{matrix.col_facet}.{name}") for name in matrix.cols]
    lines = [*zip(rows, matrix.cells, matrix.row_margin, strict=True), (ALL, matrix.col_margin, matrix.total)]
    for row, cells, margin in lines:
        for col, cell in zip([*cols, ALL], [*cells, margin], strict=True):
            if cell is not None and cell.mean is not None:
                yield f"cells/{metric_name(matrix.metric, metrics)}/{row}/{col}", cell.mean
