"""Parse and check gates: ``metric[facet=value, facet=*, min_n=5] OP bound``.

A value with a comma, a bracket or a quote needs double quotes, and quotes inside it are doubled.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from pytest_rageval.errors import GateSyntaxError, UnknownNameError, short_repr
from pytest_rageval.model.facets import ANY, KNEW, MIN_N

__all__ = ["LOWER", "PSEUDO_METRICS", "Gate", "check_gate", "parse_gate"]

PSEUDO_METRICS = (
    "cost_usd", "error_rate", "latency_p50", "latency_p95", "model_calls", "n", "tokens", "tool_calls",
)  # fmt: skip
"""Names that a gate can bound in addition to metrics."""

LOWER = (">=", ">")
"""The operators of a lower bound: the higher the value, the better."""

SHAPE = "write metric[facet=value] OP bound, for instance accuracy[noise_rate=0.8] >= 0.7"

# Neighbouring parts of these patterns never match the same text: a hostile expression fails in linear time.
_METRIC = re.compile(r"\s*([A-Za-z_][\w@:.-]*)\s*")
_PAIR = re.compile(r'([^=,\[\]"]+)=(?:\s*"(?P<quoted>(?:[^"]|"")*)"\s*|(?P<bare>[^,\]"]+))(?P<end>[,\]])')
_BOUND = re.compile(
    r"\s*(>=|<=|>|<)\s*(?:(?P<number>[-+]?[\d.]+(?:[eE][-+]?\d+)?)(?:\s*(?P<percent>%))?\s*$|(?P<base>baseline.*))",
    re.DOTALL,
)
_COUNT = re.compile(r"0*[1-9][0-9]{0,8}")
_BASELINE = re.compile(r"baseline(?:\s*(?P<sign>[-+])\s*(?P<tolerance>\d+(?:\.\d+)?|\.\d+))?\s*$")
_HOLDS: dict[str, Callable[[float, float], bool]] = {
    ">=": lambda value, bound: value >= bound - _EPS,
    ">": lambda value, bound: value > bound + _EPS,
    "<=": lambda value, bound: value <= bound + _EPS,
    "<": lambda value, bound: value < bound - _EPS,
}
_EPS = 1e-12  # a mean of floats may miss its exact value by this much


@dataclass(frozen=True, slots=True)
class Gate:
    """A bound on the mean of a metric over some cases.

    Attributes:
        metric: a metric's name or a pseudo-metric's.
        slice: facet -> value; with "*" the gate must hold for every value of that facet.
        op: one of ``>= > <= <``.
        bound: the number (a percentage as a share); for a baseline gate, the bound of the difference from the baseline.
        bound_text: the bound as written.
        baseline: whether the bound is relative to the committed baseline.
        min_n: number of scored cases that a cell needs to be judged; 1 or more.
    """

    metric: str
    op: str
    bound: float
    bound_text: str
    slice: Mapping[str, str] = field(default_factory=dict)
    baseline: bool = False
    min_n: int = 1

    def __str__(self) -> str:
        least = [f"{MIN_N}={self.min_n}"] if self.min_n > 1 else []
        pairs = ", ".join([f"{key}={_quoted(value)}" for key, value in self.slice.items()] + least)
        return f"{self.metric}{f'[{pairs}]' if pairs else ''} {self.op} {self.bound_text}"

    @property
    def static_slice(self) -> Mapping[str, str]:
        """The part of the slice that is known before a case runs."""
        if KNEW not in self.slice:
            return self.slice
        return {name: value for name, value in self.slice.items() if name != KNEW}

    def holds(self, value: float) -> bool:
        """Return whether ``value`` holds the bound."""
        return _HOLDS[self.op](value, self.bound)

    def format_missed(self, value: float) -> str:
        """Format a value that misses the bound: four digits, or all digits if rounding would hide the miss."""
        short = f"{value:.4g}"
        return repr(value) if self.holds(float(short)) else short


def parse_gate(text: str, where: str = "") -> Gate:
    """Parse one gate expression.

    Raises:
        GateSyntaxError: the expression is malformed.
    """
    prefix = f"{where}: gate {short_repr(text)}" if where else f"gate {short_repr(text)}"
    head = _METRIC.match(text)
    if head is None:
        raise GateSyntaxError(f"{prefix} does not begin with a metric; {SHAPE}")
    pairs, at = _parse_slice(text, head.end(), prefix)
    min_n = _count(pairs.pop(MIN_N, "1"), prefix)
    bound = _BOUND.match(text, at)
    if bound is None:
        raise GateSyntaxError(
            f"{prefix} has no valid operator and bound after {short_repr(text[:at].strip())}; {SHAPE}"
        )
    op = bound[1]
    if bound["base"] is not None:
        tail = _BASELINE.match(bound["base"])
        sign, shape = ("-", ">=") if op in LOWER else ("+", "<=")
        if tail is None or tail["sign"] not in (None, sign) or op != shape:
            raise GateSyntaxError(
                f"{prefix} has a malformed baseline; write {shape} baseline or {shape} baseline {sign} 0.02"
            )
        tolerance = _finite(tail["tolerance"] or "0", prefix)
        difference = -tolerance if op in LOWER else tolerance
        return Gate(head[1], op, difference, bound["base"].strip(), pairs, baseline=True, min_n=min_n)
    number = _finite(bound["number"], prefix)
    share = number / 100 if bound["percent"] else number
    return Gate(head[1], op, share, bound["number"] + (bound["percent"] or ""), pairs, min_n=min_n)


def check_gate(gate: Gate, metrics: Collection[str], facets: Collection[str], where: str = "") -> None:
    """Raise an error if the gate names an unknown metric or facet, or has an impossible bound."""
    where = f"{where}: gate {short_repr(str(gate))}" if where else f"gate {short_repr(str(gate))}"
    if gate.metric not in metrics and gate.metric not in PSEUDO_METRICS:
        raise UnknownNameError("metric", gate.metric, [*metrics, *PSEUDO_METRICS], where)
    for name in gate.slice:
        if name not in facets:
            raise UnknownNameError("facet", name, facets, where)
    if gate.baseline and gate.metric in PSEUDO_METRICS:
        raise GateSyntaxError(f"{where} compares {gate.metric} with the baseline, which holds metrics; use a number")
    is_share = gate.metric in metrics or gate.metric == "error_rate"
    if is_share and not gate.baseline and not 0 <= gate.bound <= 1:
        raise GateSyntaxError(
            f"{where} bounds a metric in 0..1 by {gate.bound_text}; write a share or a percentage", code="RAG111"
        )


def _parse_slice(text: str, at: int, prefix: str) -> tuple[dict[str, str], int]:
    if not text.startswith("[", at):
        return {}, at
    at += 1
    pairs: dict[str, str] = {}
    while True:
        pair = _PAIR.match(text, at)
        key = pair[1].strip() if pair else ""
        if pair is None or not key or not (pair["bare"] or '"').strip():
            raise GateSyntaxError(f"{prefix} has a malformed [facet=value]; {SHAPE}")
        if key in pairs:
            raise GateSyntaxError(f"{prefix} names {short_repr(key)} twice; name it once")
        pairs[key] = pair["bare"].strip() if pair["quoted"] is None else pair["quoted"].replace('""', '"')
        at = pair.end()
        if pair["end"] == "]":
            return pairs, at


def _count(text: str, prefix: str) -> int:
    if not _COUNT.fullmatch(text):
        raise GateSyntaxError(
            f"{prefix} has {MIN_N}={short_repr(text)}; write a whole number from 1 on, such as {MIN_N}=5"
        )
    return int(text)


def _finite(text: str, prefix: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise GateSyntaxError(f"{prefix} has the bound {short_repr(text)}, which is not a number") from None
    if not math.isfinite(number):
        raise GateSyntaxError(f"{prefix} has the bound {short_repr(text)}, which is not finite")
    return number


def _quoted(value: str) -> str:
    plain = value == ANY or (value and value == value.strip() and not set(value) & set(',]"'))
    return value if plain else '"' + value.replace('"', '""') + '"'
