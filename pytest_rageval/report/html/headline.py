"""Compute the top of the page: verdict, figures and warnings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from pytest_rageval.analysis.decisions.selected_part import is_not_decided
from pytest_rageval.analysis.people.bias import FAIR
from pytest_rageval.report.files.plan_json import decode_plan_without_cases
from pytest_rageval.report.html.gate_rows import is_inconclusive, is_not_comparable
from pytest_rageval.report.html.links import Cases, case_list
from pytest_rageval.report.run.verdict import RunVerdict, verdict_of
from pytest_rageval.report.run.warnings import warnings_of
from pytest_rageval.report.sections.judge_bias import BIAS, bias_text
from pytest_rageval.report.text.lines import counted, dollars

__all__ = ["conclusion_of", "failed_tests_of", "notes_of", "tiles_of"]


def conclusion_of(results: Mapping[str, Any], errors: int) -> RunVerdict:
    """Return the verdict of gates and tests."""
    shard = results["run"].get("shard")
    verdict = verdict_of(
        Counter(gate["status"] for gate in results["gates"]),
        inconclusive=sum(map(is_inconclusive, results["gates"])),
        not_comparable=sum(is_not_comparable(gate) for gate in results["gates"]),
        not_decided=sum(is_not_decided(gate["status"], gate.get("reason")) for gate in results["gates"]),
        tests=len(results["run"].get("failed", ())),
        errors=errors,
        cases=len(results["outcomes"]),
        interrupted=results["run"]["interrupted"],
        shard=f"shard {shard['number']} of {shard['of']}" if shard else "",
        exitstatus=results["run"].get("exitstatus", 0),
    )
    return verdict._replace(text=verdict.text[0].upper() + verdict.text[1:])


def tiles_of(results: Mapping[str, Any], statuses: Mapping[str, int], systems: int) -> list[tuple[str, str]]:
    """Return the figures of a run as (label, value); those of model calls only if some usage is known."""
    usage, seconds = results["usage"], results["run"]["duration_s"]
    tokens = [usage[key] for key in ("prompt_tokens", "completion_tokens")]
    replayed = f" ({usage['replayed']:,} replayed)" if usage["replayed"] else ""
    counts = (*tokens, usage["cost_usd"])
    has_usage = usage["replayed"] or usage["attempts"] or any(count is not None for count in counts)
    calls = [
        (f"model calls{replayed}", f"{usage['calls']:,}"),
        ("tokens", "unknown" if None in tokens else f"{sum(tokens):,}"),
        ("cost", _cost(usage)),
    ]
    return [
        ("outcomes", f"{sum(statuses.values()):,}"),
        ("scored", f"{statuses.get('scored', 0):,}"),
        ("errors", f"{statuses.get('error', 0):,}"),
        *([("skipped", f"{statuses['skipped']:,}")] if statuses.get("skipped") else ()),
        ("systems", f"{systems:,}"),
        *(calls if has_usage else ()),
        ("took", f"{seconds / 60:.1f} min" if seconds >= 120 else f"{seconds:.1f} s"),
    ]


def _cost(usage: Mapping[str, Any]) -> str:
    if usage["cost_usd"] is not None:
        return dollars(usage["cost_usd"])
    lower_bound = usage.get("at_least", {}).get("cost_usd")
    return "unknown" if lower_bound is None else f"at least {dollars(lower_bound)}"


def failed_tests_of(results: Mapping[str, Any], cases: Cases) -> dict[str, Any]:
    """Return the list of failed tests, those without a case first; gates are left out."""
    failed = sorted(results["run"].get("failed", ()), key=cases.__contains__)
    return case_list([(nodeid, "") for nodeid in failed], others=sum(nodeid not in cases for nodeid in failed))


def notes_of(results: Mapping[str, Any]) -> list[str]:
    """Return the warnings of the summary, and sentences on judges, cases and gates that do not count."""
    inconclusive = [(gate["scope"], gate["expr"]) for gate in results["gates"] if is_inconclusive(gate)]
    plan = decode_plan_without_cases(results)
    untrusted = [
        f"scores of the judge {each['judge']} do not count: {each['problem']}"
        for each in results.get("trust", ())
        if each["problem"]
    ]
    biased = [bias_text(each) for each in BIAS.read_rows(results) if each.verdict != FAIR]
    unselected = [f"{counted(plan.unselected, 'case')} not selected"] if plan.unselected else []
    unmatched = [f"no case of this session matches the gate {gate}" for gate in plan.unmatched_gates]
    unscored = (results.get("comparison") or {}).get("cases", {}).get("unscored", {})
    return [*warnings_of(plan, inconclusive, unscored), *untrusted, *biased, *unselected, *unmatched]
