"""Read the values of gates in earlier runs, and draw them as a line beside the gate's bar."""

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

MAX_RUNS = 20
"""Maximum number of earlier runs that are read."""

MIN_VALUES = 2
"""Minimum number of earlier values for a line."""

WIDTH, HEIGHT = 80.0, 20.0
"""Size of the picture, in its units."""

_GATES, _NOT_INTERRUPTED, _END_OF_FILE = b'\n"gates": [\n', b'\n"interrupted": false', b"\n}\n"


def earlier_values(runs: Path, results: Mapping[str, Any]) -> dict[str, list[float]]:
    """Return node id of a gate -> its values in the runs before this one, oldest first.

    It leaves out runs that were interrupted, have a damaged file or evaluated no gate.
    """
    this_age = run_age(runs / (results["run"]["id"] or "-"))
    before = [folder for folder in stored_runs(runs) if run_age(folder) < this_age][:MAX_RUNS]
    values: dict[str, list[float]] = {}
    for folder in reversed(before):
        for nodeid, value in _read_gate_values(folder / "results.json").items():
            values.setdefault(nodeid, []).append(value)
    return values


def _read_gate_values(path: Path) -> dict[str, float]:
    """Return node id -> value of the gates of a results.json; empty if they cannot be read.

    It parses only the gates: `json_lines` writes each of them on its own line, after the outcomes.
    """
    try:
        with path.open("rb") as stream, mmap(stream.fileno(), 0, access=ACCESS_READ) as text:
            if text.find(_NOT_INTERRUPTED, 0, text.find(b"\n}")) < 0 or text[-len(_END_OF_FILE) :] != _END_OF_FILE:
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
    """Return the points of a gate's line, up to this run, and a label with the values; None with too few values."""
    if len(earlier) < MIN_VALUES:
        return None
    values = [*earlier] if gate["value"] is None else [*earlier, gate["value"]]
    low, high = min(values), max(values)
    span = max(high - low, 0.1 * max(1.0, abs(high)))  # so that tiny changes are not drawn as a zigzag
    middle = (low + high) / 2

    def point(at: int, value: float) -> str:
        x = 2 + (WIDTH - 4) * at / (len(values) - 1)
        return f"{x:.1f},{HEIGHT / 2 - (HEIGHT - 4) * (value - middle) / span:.1f}"

    now = "" if gate["value"] is None else f"; now {number(gate['value'])}"
    label = f"{len(earlier)} earlier runs, oldest first: {', '.join(map(number, earlier))}{now}"
    return {"points": " ".join(point(at, value) for at, value in enumerate(values)), "label": label}
