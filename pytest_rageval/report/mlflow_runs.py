"""A results.json as runs of MLflow: one a system, with params, metrics by name and by cell, and tags."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import fmean
from typing import Any

from pytest_rageval.analysis.cells import cell_of
from pytest_rageval.analysis.gates import PSEUDO_METRICS
from pytest_rageval.analysis.matrix import Matrix
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.reread import run_of
from pytest_rageval.report.run import Run

__all__ = ["SystemRun", "metric_name", "system_runs"]

RALLE = {
    "exact_match": "em",
    "token_f1": "f1",
    "kilt:exact_match": "KILT-em",
    "kilt:token_f1": "KILT-f1",
    "kilt:kilt_accuracy": "KILT-accuracy",
}
"""Metrics that RaLLe's evaluation logs under other names, and means the same by."""

SECONDS = "sec per query"  # RaLLe's name
ALL = "all"
LONGEST = 60  # characters of a part of a name
LONGEST_VALUE = 500  # of a param or a tag, as older servers take them

_UNSAFE = re.compile(r"[^\w.\- ]")


@dataclass(frozen=True, slots=True)
class SystemRun:
    """What MLflow is told of one system.

    Attributes:
        name: the system's.
        params: the settings, and what the data were.
        metrics: means over the system's cases, by name and by cell of the matrices, and on how many they are.
        tags: which run of ours it was, and what it ran on.
    """

    name: str
    params: Mapping[str, str]
    metrics: Mapping[str, float]
    tags: Mapping[str, str]


def system_runs(results: Mapping[str, Any]) -> list[SystemRun]:
    """Return what MLflow is told of each system of a results.json.

    Raises:
        AttributeError, KeyError, TypeError, ValueError: ``results`` is not in the shape that the schema describes.
    """
    run, choice = run_of(results)
    outcomes = run.of_systems()
    systems = list(dict.fromkeys(outcome.system for outcome in outcomes))
    matrices = run.matrices(choice)
    params, tags = _params(results), _tags(results)
    made = []
    for system in systems:
        mine = [outcome for outcome in outcomes if outcome.system == system]
        metrics: dict[str, float] = {}
        cells = [_cells(matrix, run.plan.metrics) for matrix in matrices if matrix.system in ("", system)]
        for name, value in chain(_means(run, mine), *cells):
            metrics[_unused(name, metrics)] = value
        made.append(SystemRun(system, params, metrics, {**tags, "rag.system": _short(system)}))
    return made


def metric_name(metric: str, others: Container[str] = ()) -> str:
    """Return a metric's name in MLflow, which allows letters, digits and ``_-. /``: RaLLe's where that means the same.

    ``page_R@5`` is its ``recall_at_5``; so is ``R@5`` where ``page_R@5`` is not among the ``others`` of a run.
    ``nDCG@10`` is ``nDCG_at_10``, and any other character an underscore.
    """
    recall, at, k = metric.rpartition("R@")
    if at and recall in ("", "page_") and not (recall == "" and f"page_{metric}" in others):
        return f"recall_at_{k}"
    return RALLE.get(metric) or _part(metric.replace("@", "_at_"))


def _means(run: Run, outcomes: Sequence[Outcome]) -> Iterator[tuple[str, float]]:
    """Yield what is known of all of a system's cases."""
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


def _cells(matrix: Matrix, metrics: Container[str]) -> Iterator[tuple[str, float]]:
    """Yield the means of a matrix's cells and margins, as ``cells/METRIC/topic.Funds/task.extractive_qa``."""
    groups = [group.name for group in matrix.groups for _ in range(group.n_rows)]
    rows = [_part(f"{matrix.row_facet}.{name}") for name in matrix.rows]
    if groups:  # rows of one name may stand under two of them
        rows = [_part(f"{matrix.row_facet}.{group}.{name}") for group, name in zip(groups, matrix.rows, strict=True)]
    cols = [_part(f"{matrix.col_facet}.{name}") for name in matrix.cols]
    lines = [*zip(rows, matrix.cells, matrix.row_margin, strict=True), (ALL, matrix.col_margin, matrix.total)]
    for row, cells, margin in lines:
        for col, cell in zip([*cols, ALL], [*cells, margin], strict=True):
            if cell is not None and cell.mean is not None:
                yield f"cells/{metric_name(matrix.metric, metrics)}/{row}/{col}", cell.mean


def _params(results: Mapping[str, Any]) -> dict[str, str]:
    told = results["run"]
    testbeds = ", ".join(testbed["name"] for testbed in results["testbeds"].values())
    pairs = [(_part(name), value) for name, value in told.get("settings", {}).items()]
    pairs += [("fingerprint", told["fingerprint"]), ("testbeds", testbeds)]
    for name, testbed in zip(_names(results), results["testbeds"].values(), strict=True):
        asked = testbed.get("settings", {}) | {key: ", ".join(testbed[key]) for key in ("metrics", "gates")}
        pairs += [(f"{_part(name)}.{key}", value) for key, value in asked.items()]
    pairs.append(("gates", ", ".join(results["plan"]["session_gates"])))
    params: dict[str, str] = {}
    for key, value in pairs:
        if value:
            params[_unused(key, params)] = _short(value)
    return params


def _names(results: Mapping[str, Any]) -> list[str]:
    """Return what each testbed is called: by its name, or where two share it by its node id."""
    names = Counter(testbed["name"] for testbed in results["testbeds"].values())
    return [key if names[each["name"]] > 1 else each["name"] for key, each in results["testbeds"].items()]


def _tags(results: Mapping[str, Any]) -> dict[str, str]:
    told = results["run"]
    gates = Counter(gate["status"] for gate in results["gates"])
    tags = {
        "rag.run": told["id"],
        "rag.started": told["started"],
        "rag.interrupted": str(told["interrupted"]).lower(),
        "rag.gates": ", ".join(f"{n} {status}" for status, n in sorted(gates.items())),
    }
    tags |= {_part(f"rag.version.{name}"): version for name, version in told["versions"].items()}
    return {name: _short(value) for name, value in tags.items() if value}


def _part(text: str) -> str:
    """Return a text as one part of a name; a long one is cut, with a digest that tells it from others."""
    safe = _UNSAFE.sub("_", text)
    if len(safe) > LONGEST:
        return f"{safe[: LONGEST - 9]}-{_digest(text)}"
    return safe if safe.strip(". ") else "_"


def _unused(name: str, taken: Container[str]) -> str:
    """Return a name, with a number behind it where another text has become the same."""
    number, free = 2, name
    while free in taken:
        number, free = number + 1, f"{name}_{number}"
    return free


def _short(value: str) -> str:
    """Return a value; a long one is cut, with a digest that tells it from others."""
    return value if len(value) <= LONGEST_VALUE else f"{value[: LONGEST_VALUE - 12]}... {_digest(value)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8]
