"""Draw a gate as a bar: its bound, the baseline's value, this run's value and its interval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_rageval.analysis.gates import parse_gate
from pytest_rageval.errors import RagEvalError

__all__ = ["bar_of"]

WIDTH = 200.0
"""Width of the scale in units of the picture, which has 5 more units on each side for marks at the ends."""


def bar_of(gate: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the positions of a gate's values on the scale; None without a value or a bound.

    The scale is 0 to 1, or wider if a value is outside. The bar of a baseline gate shows only the compared cases: its
    bound is the baseline's mean plus the gate's margin.
    """
    try:
        parsed = parse_gate(gate["expr"])
    except RagEvalError:
        return None
    was, now = gate["baseline"], gate["value"]
    if was is not None and gate.get("delta") is not None:
        now = was + gate["delta"]
    bound = None if parsed.baseline and was is None else parsed.bound + (was if parsed.baseline else 0.0)
    if bound is None or now is None:
        return None
    interval = gate["ci95"] if gate["value"] is not None and abs(now - gate["value"]) < 0.005 else None
    values = [each for each in (was, now, bound, *(interval or ())) if each is not None]
    low, high = min(0.0, *values), max(1.0, *values)

    def position(value: float | None) -> float | None:
        return None if value is None else round(5 + WIDTH * (value - low) / (high - low), 1)

    is_floor = parsed.op.startswith(">")
    edge = position(bound) or 5.0
    return {
        "bound": position(bound),
        "was": position(was),
        "now": position(now),
        "interval": None if interval is None else (position(interval[0]), position(interval[1])),
        "allowed": (edge, round(5 + WIDTH - edge, 1)) if is_floor else (5, round(edge - 5, 1)),
        "scale": (f"{low:.4g}", f"{high:.4g}"),
        "label": _label(bound, was, now, interval, parsed.op),
    }


def _label(bound: float, was: float | None, now: float, interval: tuple[float, float] | None, op: str) -> str:
    parts = [f"now {now:.2f}", f"allowed {op} {bound:.2f}"]
    if was is not None:
        parts.insert(1, f"was {was:.2f}")
    if interval is not None:
        parts.append(f"95 % interval {interval[0]:.2f} to {interval[1]:.2f}")
    return ", ".join(parts)
