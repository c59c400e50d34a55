"""Convert outcomes to a table, one row per case, system and setting; write it as Parquet."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pytest_rageval.errors import MissingDependencyError

__all__ = ["Column", "OutcomeTable", "outcome_table", "write_parquet"]

Value = str | float | None
Kind = Literal["text", "float", "int"]

_CASE_COLUMNS = ("nodeid", "case_id", "testbed", "system", "status", "error_type", "error")
_INTEGER = re.compile(r"-?(0|[1-9]\d{0,14})", re.ASCII)
_NUMBER = re.compile(rf"({_INTEGER.pattern})(\.\d{{1,15}})?", re.ASCII)
"""Numbers in canonical form only: 007 is a name."""

_USAGE: Mapping[str, Kind] = {
    "prompt_tokens": "int",
    "completion_tokens": "int",
    "cost_usd": "float",
    "latency_s": "float",
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column and the type of its known values."""

    name: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class OutcomeTable:
    """Columns and rows; None is an unknown value or one that does not apply, such as an unscored metric."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]


def outcome_table(outcomes: Sequence[Mapping[str, Any]]) -> OutcomeTable:
    """Return the outcomes of a results.json as a table, in their order.

    The columns are those of the case, then ``facet.NAME`` (numbers if all values of the facet are numbers),
    ``score.METRIC``, ``reason.METRIC`` (why a value is missing; only for metrics with a missing value),
    ``usage.NAME`` and ``answer`` (only if the results have texts).
    """
    facets = _distinct_keys(outcome["facets"] for outcome in outcomes)
    metrics = _distinct_keys(outcome["scores"] for outcome in outcomes)
    with_reasons = {name for outcome in outcomes for name, score in outcome["scores"].items() if "reason" in score}
    reasons = [name for name in metrics if name in with_reasons]
    texts = any(outcome["answer"] is not None and outcome["answer"]["text"] is not None for outcome in outcomes)
    columns = [Column(name, "text") for name in _CASE_COLUMNS]
    kinds = {name: _kind({each["facets"][name] for each in outcomes if name in each["facets"]}) for name in facets}
    columns += [Column(f"facet.{name}", kind) for name, kind in kinds.items()]
    columns += [Column(f"score.{name}", "float") for name in metrics]
    columns += [Column(f"reason.{name}", "text") for name in reasons]
    columns += [Column(f"usage.{name}", kind) for name, kind in _USAGE.items()]
    columns += [Column("answer", "text")] if texts else []
    rows = (tuple(_row(outcome, kinds, metrics, reasons, texts=texts)) for outcome in outcomes)
    return OutcomeTable(tuple(columns), tuple(rows))


def write_parquet(table: OutcomeTable, path: Path) -> None:
    """Write a table of outcomes to ``path``; unknown values are null.

    Raises:
        MissingDependencyError: pyarrow is not installed, or not for the installed numpy.
        OSError: the file cannot be written.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise MissingDependencyError("--as parquet", "parquet") from error

    types = {"text": pyarrow.string(), "float": pyarrow.float64(), "int": pyarrow.int64()}
    arrays = [
        pyarrow.array([row[at] for row in table.rows], types[column.kind]) for at, column in enumerate(table.columns)
    ]
    with path.open("wb") as stream:
        parquet.write_table(pyarrow.Table.from_arrays(arrays, [column.name for column in table.columns]), stream)


def _row(
    outcome: Mapping[str, Any],
    facets: Mapping[str, Kind],
    metrics: Sequence[str],
    reasons: Sequence[str],
    *,
    texts: bool,
) -> Iterator[Value]:
    answer = outcome["answer"] or {}
    usage, scores = answer.get("usage") or {}, outcome["scores"]
    yield from (outcome[name] for name in _CASE_COLUMNS)
    for name, kind in facets.items():
        value = outcome["facets"].get(name)
        yield value if value is None or kind == "text" else (int if kind == "int" else float)(value)
    yield from (scores[name]["value"] if name in scores else None for name in metrics)
    yield from (scores[name].get("reason") if name in scores else None for name in reasons)
    yield from (usage.get(name) for name in _USAGE)
    if texts:
        yield answer.get("text")


def _kind(values: Iterable[str]) -> Kind:
    """Return the narrowest type that round-trips every value."""
    distinct = set(values)
    if all(_INTEGER.fullmatch(value) and str(int(value)) == value for value in distinct):
        return "int"
    if not all(_NUMBER.fullmatch(value) and value in (str(float(value)), f"{float(value):.0f}") for value in distinct):
        return "text"
    return "float" if len({float(value) for value in distinct}) == len(distinct) else "text"


def _distinct_keys(mappings: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the keys of all mappings, in order of first appearance."""
    return list(dict.fromkeys(name for mapping in mappings for name in mapping))
