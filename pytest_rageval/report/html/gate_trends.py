"""The values of each gate in earlier runs, and the line that they draw beside its bar."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

from pytest_rageval.analysis.decisions.selected_part import is_not_decided
from pytest_rageval.model.stored_json import parse_json
from pytest_rageval.report.files.run_folder import run_age
from pytest_rageval.report.files.run_names import stored_runs
from pytest_rageval.report.text.lines import number

__all__ = ["earlier_values", "trend_of"]

RUNS = 20
"""Largest number of earlier runs that are read."""

LEAST = 2
"""Smallest number of earlier values that are drawn."""

WIDTH, HEIGHT = 80.0, 20.0

_GATES, _ENDED, _WHOLE = b'\n"gates": [\n', b'\n"interrupted": false', b"\n}\n"


def earlier_values(runs: Path, results: Mapping[str, Any]) -> dict[str, list[float]]:
    """Return node id of a gate -> its values in the runs before this one, oldest first.

    Runs that were interrupted, are damaged or evaluated no gate are left out.
    """
    this = run_age(runs / (results["run"]["id"] or "-"))
    before = [folder for folder in stored_runs(runs) if run_age(folder) < this][:RUNS]
    values: dict[str, list[float]] = {}
    for folder in reversed(before):
        for nodeid, value in _gates_in(folder / "results.json").items():
            values.setdefault(nodeid, []).append(value)
    return values


def _gates_in(path: Path) -> dict[str, float]:
    """Return node id -> value, reading only the gates of a results.json; empty if that is not possible.

    `json_lines` writes each gate as a line of its own, behind the outcomes.
    """
    try:
        with path.open("rb") as stream, mmap(stream.fileno(), 0, access=ACCESS_READ) as text:
            if text.find(_ENDED, 0, text.find(b"\n}")) < 0 or text[-len(_WHOLE) :] != _WHOLE:
                return {}
            at = text.rfind(_GATES)
            lines = b"" if at < 0 else text[at + len(_GATES) : text.find(b"\n]", at)]
        return dict(_values(parse_json(b"[" + lines + b"]", finite=True)))
    except (OSError, AttributeError, KeyError, TypeError, ValueError):
        return {}


def _values(gates: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, float]]:
    for gate in gates:
        if gate["value"] is not None and not is_not_decided(gate["status"], gate.get("reason")):
            yield gate["nodeid"], float(gate["value"])


def trend_of(gate: Mapping[str, Any], earlier: Sequence[float]) -> dict[str, str] | None:
    """Return the points of a gate's line up to this run, and its values in words; None without two earlier ones."""
    if len(earlier) < LEAST:
        return None
    values = [*earlier] if gate["value"] is None else [*earlier, gate["value"]]
    low, high = min(values), max(values)
    span = max(high - low, 0.1 * max(1.0, abs(high)))  # what hardly changes is no zigzag
    middle = (low + high) / 2

    def point(at: int, value: float) -> str:
        x = 2 + (WIDTH - 4) * at / (len(values) - 1)
        return f"{x:.1f},{HEIGHT / 2 - (HEIGHT - 4) * (value - middle) / span:.1f}"

    now = "" if gate["value"] is None else f"; now {number(gate['value'])}"
    told = f"{len(earlier)} earlier runs, oldest first: {', '.join(map(number, earlier))}{now}"
    return {"points": " ".join(point(at, value) for at, value in enumerate(values)), "label": told}
