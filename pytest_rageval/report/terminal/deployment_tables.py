"""Format the quality, time and cost of each system, as tables, CSV and JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_rageval.analysis.systems.board import NO_VALUE
from pytest_rageval.analysis.systems.costs import SHARES, SystemCosts
from pytest_rageval.report.sections.section import Table
from pytest_rageval.report.text.lines import Line, dollars, few_of, interval, number
from pytest_rageval.report.text.tables import ABSENT

__all__ = ["MACRO", "deployment_csv", "deployment_json", "deployment_tables"]

COLUMNS = (
    "system", "workflow", "model", "quality", "ci_low", "ci_high", "p50_s", "p95_s", "mean_s", "calls", "tool_calls",
    "prompt_tokens", "completion_tokens", "cost_usd", "cost_per_right", "front",
)  # fmt: skip

MACRO = "macro"
"""The facet value of rows that average over all values of the facet."""

MAX_DOMINATING = 3
"""Dominating systems to list in a cell."""

REPLAYED = "replayed"

Rows = Mapping[str, Sequence[SystemCosts]]
"""Value of the facet, or "" for all cases -> quality and cost of each system."""


def deployment_tables(rows: Rows, metric: str, by: str, concurrency: Mapping[str, str]) -> Iterator[Table]:
    """Yield three tables: quality and cost; calls, tokens and errors; shares of the time.

    Args:
        rows: value of the facet -> quality and cost of each system.
        metric: the metric that measures quality.
        by: name of the facet; "" without one.
        concurrency: system -> ``rag_concurrency`` of its run, as text; "" if unknown.
    """
    flat = [(value, row) for value, group in rows.items() for row in group]
    head = _heads(flat, by)
    yield Table(f"deployment - {metric}, seconds, dollars and front", [*head, *_costs(flat)], _notes(flat, concurrency))
    yield Table("an answer - calls, steps and tokens", [*head, *_calls(flat)])
    shared = [(value, row) for value, row in flat if row.shares]
    if shared:
        shares = ([part, *(f"{row.shares[part]:.0%}" for _, row in shared)] for part in SHARES)
        yield Table("where the seconds go", [*_heads(shared, by), *shares])


def deployment_csv(rows: Rows, by: str) -> str:
    """Return one CSV row for each system; the value of the facet, if there is one, is the first column."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*([by] if by else []), *COLUMNS])
    for value, group in rows.items():
        for row in group:
            figures = _figures(row)
            writer.writerow([*([value] if by else []), *("" if each is None else each for each in figures.values())])
    return stream.getvalue()


def deployment_json(rows: Rows, metric: str, by: str, concurrency: Mapping[str, str]) -> dict[str, Any]:
    """Return the quality and cost of each system as builtins; arguments as in `deployment_tables`."""
    systems = [
        {
            **({by: value} if by else {}),
            **_figures(row),
            "n": row.n,
            "n_replayed": row.n_replayed,
            "steps": row.steps,
            "shares": dict(row.shares),
            "errors": row.errors,
            "outages": row.outages,
            "limits": row.limits,
            "dominated_by": list(row.dominated_by),
            "concurrency": concurrency.get(row.system.name) or None,
        }
        for value, group in rows.items()
        for row in group
    ]
    return {"metric": metric, "by": by or None, "systems": systems}


def _figures(row: SystemCosts) -> dict[str, Any]:
    low, high = (None, None) if row.quality is None or row.quality.ci95 is None else row.quality.ci95
    front = None if row.front is None else ("yes" if row.front else "no")
    model = None if row.system.model == NO_VALUE else row.system.model
    values = (
        row.system.name, row.system.workflow, model, row.mean, low, high, row.p50_s, row.p95_s, row.mean_s,
        row.model_calls, row.tool_calls, row.prompt_tokens, row.completion_tokens, row.cost_usd, row.cost_per_right,
        front,
    )  # fmt: skip
    return dict(zip(COLUMNS, values, strict=True))


def _heads(flat: Sequence[tuple[str, SystemCosts]], by: str) -> list[list[str]]:
    heads = [["system", *(f"{row.system.name} ({value})" if by else row.system.name for value, row in flat)]]
    if not by:
        heads.append(["workflow", *(row.system.workflow for _, row in flat)])
        heads.append(["model", *(row.system.model for _, row in flat)])
    return heads


def _costs(flat: Sequence[tuple[str, SystemCosts]]) -> Iterator[list[str]]:
    rows = [row for _, row in flat]
    yield ["n", *(str(row.n) for row in rows)]
    yield ["quality", *(number(row.mean) for row in rows)]
    yield ["95 %", *(interval(row.quality.ci95) if row.quality else ABSENT for row in rows)]
    for name in ("p50_s", "p95_s", "mean_s"):
        yield [name.replace("_s", " s"), *(number(getattr(row, name)) for row in rows)]
    yield ["cost", *(_dollars(row.cost_usd) for row in rows)]
    yield ["cost per right", *(_dollars(row.cost_per_right) for row in rows)]
    yield ["front", *(_front(row) for row in rows)]


def _calls(flat: Sequence[tuple[str, SystemCosts]]) -> Iterator[list[str]]:
    rows = [row for _, row in flat]
    for head, name in (
        ("model calls", "model_calls"), ("tool calls", "tool_calls"), ("steps", "steps"),
        ("tokens in", "prompt_tokens"), ("tokens out", "completion_tokens"),
    ):  # fmt: skip
        yield [head, *(number(getattr(row, name)) for row in rows)]
    for head, name in (("errors", "errors"), ("outages", "outages"), ("limits hit", "limits")):
        yield [head, *(str(getattr(row, name)) for row in rows)]


def _front(row: SystemCosts) -> str:
    if row.front is None:
        return ABSENT
    return "front" if row.front else f"dominated by {few_of(row.dominated_by, MAX_DOMINATING)}"


def _notes(flat: Sequence[tuple[str, SystemCosts]], concurrency: Mapping[str, str]) -> list[Line]:
    notes = []
    for value, row in flat:
        if row.n_replayed:
            name = row.system.name + (f" ({value})" if value else "")
            notes.append(Line(f"{name}: {row.n_replayed} of {row.n} answers {REPLAYED}; their time is not measured"))
    for name, level in concurrency.items():
        if level not in ("", "1"):
            notes.append(Line(f"{name}: rag_concurrency {level}; its seconds include waiting at the provider"))
    return notes


def _dollars(value: float | None) -> str:
    return ABSENT if value is None else dollars(value)
