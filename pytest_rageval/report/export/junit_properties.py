"""Compute the JUnit properties of cases, gates and the session: pairs of name and text."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from pytest_rageval.analysis.account.finding import Account
from pytest_rageval.errors import ascii_safe
from pytest_rageval.model.outcome import Outcome

__all__ = ["Properties", "case_properties", "gate_properties", "run_properties"]

Properties = list[tuple[str, str]]

UNWEIGHED = "judge_not_weighed_yet"
"""Reason for a score that is not reported yet: its judge is compared with people only after all cases."""

_USAGE_FIELDS = ("prompt_tokens", "completion_tokens", "cost_usd", "latency_s")
_GATE_KEYS = ("value", "n", "n_errors", "baseline", "delta", "n_pairs", "p_value", "verdict")


def case_properties(outcome: Outcome, unweighed: Collection[str], *, texts: bool) -> Properties:
    """Return the properties of a case; an unknown value has no property.

    Args:
        outcome: the case's outcome.
        unweighed: the metrics whose judge must agree with people.
        texts: whether reasons may quote the data; if not, only the first part of a reason is written.
    """
    values: list[tuple[str, object]] = [
        ("case", outcome.case_id),
        ("status", outcome.status),
        ("error_type", outcome.error_type),
    ]
    values += [(f"facet.{name}", value) for name, value in outcome.facets.items()]
    for name, score in outcome.scores.items():
        by_rule = score.verdict is not None and score.verdict.by == "rule"
        if name in unweighed and score.value is not None and not by_rule:
            values.append((f"unscored.{name}", UNWEIGHED))
        elif score.value is not None:
            values.append((f"score.{name}", score.value))
        else:
            reason = score.reason or ""
            values.append((f"unscored.{name}", reason if texts else reason.partition(": ")[0]))
    if outcome.answer is not None and outcome.answer.usage is not None:
        values += [(f"usage.{name}", getattr(outcome.answer.usage, name)) for name in _USAGE_FIELDS]
    return _properties(values)


def gate_properties(gate: Mapping[str, Any], bound: str) -> Properties:
    """Return the properties of a gate, from its results.json form and its bound, such as ``>= 0.85``."""
    values: list[tuple[str, object]] = [("gate.scope", gate["scope"]), ("gate.bound", bound)]
    values += [(f"gate.{name}", gate.get(name)) for name in _GATE_KEYS]
    values += zip(("gate.ci95_low", "gate.ci95_high"), gate["ci95"] or (), strict=False)
    values += [(f"gate.slice.{name}", value) for name, value in gate["slice"].items()]
    return _properties(values)


def run_properties(run: Mapping[str, Any], systems: Iterable[str], account: Account) -> Properties:
    """Return the properties of the session.

    Args:
        run: the key ``run`` of results.json.
        systems: the names of the systems that answered.
        account: the verdict and the causes, in the words of every report.
    """
    values: list[tuple[str, object]] = [("run", run["id"]), ("started", run["started"])]
    values.append(("verdict", account.verdict))
    values += [(f"cause.{at}", finding.sentence) for at, finding in enumerate(account.causes, 1)]
    values += [("fingerprint", run["fingerprint"]), ("systems", ", ".join(systems))]
    values += [(f"version.{name}", version) for name, version in run["versions"].items()]
    return _properties(values)


def _properties(values: Iterable[tuple[str, object]]) -> Properties:
    """Return the properties that have a value; escape characters that are invisible or invalid in XML."""
    return [(ascii_safe(f"rag.{name}"), ascii_safe(str(value))) for name, value in values if value not in (None, "")]
