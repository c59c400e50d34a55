"""What a JUnit file tells of a case, a gate and the session beside their tests: names and values, as text."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from pytest_rageval.errors import ascii_safe
from pytest_rageval.model.outcome import Outcome

__all__ = ["Properties", "case_properties", "gate_properties", "run_properties"]

Properties = list[tuple[str, str]]

UNWEIGHED = "judge_not_weighed_yet"
"""Why a judge that has to agree with people gives no property of a score: that is known after all cases."""

_USAGE = ("prompt_tokens", "completion_tokens", "cost_usd", "latency_s")
_GATE = ("value", "n", "n_errors", "baseline", "delta", "n_pairs", "p_value", "verdict")


def case_properties(outcome: Outcome, unweighed: Collection[str], *, texts: bool) -> Properties:
    """Return what is known of a case; what is not has no property.

    Args:
        outcome: what came of it.
        unweighed: the metrics whose judge has to agree with people.
        texts: False leaves out what a reason may quote.
    """
    told: list[tuple[str, object]] = [
        ("case", outcome.case_id),
        ("status", outcome.status),
        ("error_type", outcome.error_type),
    ]
    told += [(f"facet.{name}", value) for name, value in outcome.facets.items()]
    for name, score in outcome.scores.items():
        by_rule = score.verdict is not None and score.verdict.by == "rule"
        if name in unweighed and score.value is not None and not by_rule:
            told.append((f"unscored.{name}", UNWEIGHED))
        elif score.value is not None:
            told.append((f"score.{name}", score.value))
        else:
            reason = score.reason or ""
            told.append((f"unscored.{name}", reason if texts else reason.partition(": ")[0]))
    if outcome.answer is not None and outcome.answer.usage is not None:
        told += [(f"usage.{name}", getattr(outcome.answer.usage, name)) for name in _USAGE]
    return _properties(told)


def gate_properties(gate: Mapping[str, Any], bound: str) -> Properties:
    """Return what is known of a gate, as results.json has it, and of its bound, as ``>= 0.85``."""
    told: list[tuple[str, object]] = [("gate.scope", gate["scope"]), ("gate.bound", bound)]
    told += [(f"gate.{name}", gate.get(name)) for name in _GATE]
    told += zip(("gate.ci95_low", "gate.ci95_high"), gate["ci95"] or (), strict=False)
    told += [(f"gate.slice.{name}", value) for name, value in gate["slice"].items()]
    return _properties(told)


def run_properties(run: Mapping[str, Any], systems: Iterable[str]) -> Properties:
    """Return what is known of the session.

    Args:
        run: what results.json says of it.
        systems: the names of those that answered.
    """
    told: list[tuple[str, object]] = [("run", run["id"]), ("started", run["started"])]
    told += [("fingerprint", run["fingerprint"]), ("systems", ", ".join(systems))]
    told += [(f"version.{name}", version) for name, version in run["versions"].items()]
    return _properties(told)


def _properties(told: Iterable[tuple[str, object]]) -> Properties:
    """Return those that have a value; characters that XML does not allow, or nobody sees, are shown as escapes."""
    return [(ascii_safe(f"rag.{name}"), ascii_safe(str(value))) for name, value in told if value not in (None, "")]
