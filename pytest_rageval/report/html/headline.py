"""What stands at the top of the page: the verdict, the gates, and what became worse or better than the baseline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_rageval.model.facets import place_text
from pytest_rageval.report.comparison_lines import p_text
from pytest_rageval.report.lines import counted, dollars, few_of, interval, number
from pytest_rageval.report.verdict import RunVerdict, verdict_of

__all__ = ["besides", "comparison_of", "conclusion_of", "failed_tests_of", "gates_of", "notes_of", "tiles_of"]

NAMED = 200  # cases of a kind that are listed


def conclusion_of(results: Mapping[str, Any], errors: int) -> RunVerdict:
    """Return what gates and tests decided."""
    shard = results["run"].get("shard")
    found = verdict_of(
        Counter(gate["status"] for gate in results["gates"]),
        inconclusive=sum(map(_is_undecided, results["gates"])),
        tests=len(results["run"].get("failed", ())),
        errors=errors,
        cases=len(results["outcomes"]),
        interrupted=results["run"]["interrupted"],
        shard=f"shard {shard['number']} of {shard['of']}" if shard else "",
        exitstatus=results["run"].get("exitstatus", 0),
    )
    return found._replace(text=found.text[0].upper() + found.text[1:])


def besides(results: Mapping[str, Any], errors: int) -> str:
    """Return what has to be known of a run beside its verdict."""
    skipped = sum(gate["status"] == "skipped" for gate in results["gates"])
    unfinished = len(results["plan"]["unfinished"])
    told = (
        (skipped, counted(skipped, "gate") + " not judged"),
        (errors, counted(errors, "error")),
        (unfinished, counted(unfinished, "case") + " never ended"),
    )
    return ", ".join(text for n, text in told if n)


def tiles_of(results: Mapping[str, Any], statuses: Mapping[str, int], systems: int) -> list[tuple[str, str]]:
    """Return the run in figures: (what, how much); of calls nothing where no system told what they took."""
    usage, seconds = results["usage"], results["run"]["duration_s"]
    tokens = [usage[key] for key in ("prompt_tokens", "completion_tokens")]
    calls = [
        ("model calls", f"{usage['calls']:,}"),
        ("tokens", "unknown" if None in tokens else f"{sum(tokens):,}"),
        ("cost", "unknown" if usage["cost_usd"] is None else dollars(usage["cost_usd"])),
    ]
    return [
        ("outcomes", f"{sum(statuses.values()):,}"),
        ("scored", f"{statuses.get('scored', 0):,}"),
        ("errors", f"{statuses.get('error', 0):,}"),
        *([("skipped", f"{statuses['skipped']:,}")] if statuses.get("skipped") else ()),
        ("systems", f"{systems:,}"),
        *(calls if any(told is not None for told in (*tokens, usage["cost_usd"])) else ()),
        ("took", f"{seconds / 60:.1f} min" if seconds >= 120 else f"{seconds:.1f} s"),
    ]


def gates_of(results: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the gates as text, those that failed first."""
    order = {"failed": 0, "skipped": 1, "passed": 2}
    return [_gate(gate) for gate in sorted(results["gates"], key=lambda gate: order[gate["status"]])]


def failed_tests_of(results: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tests that failed on their own; gates are none of them."""
    failed = results["run"].get("failed", ())
    return _listed([(nodeid, "") for nodeid in failed])


def comparison_of(results: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the comparison with the baseline as text, None where there was none."""
    comparison = results.get("comparison")
    if comparison is None:
        return None
    alpha = results["plan"].get("alpha", 0.05)
    whole = [each for each in comparison["comparisons"] if not each["slice"]]
    sure = [each for each in comparison["comparisons"] if each["slice"] and _is_beyond_noise(each, alpha)]
    cases = comparison["cases"]
    counts = [(name, len(cases[name])) for name in ("new", "gone", "changed", "renamed")]
    return {
        "of": comparison["baseline"],
        "cases": [
            ("compared", cases["compared"]),
            *counts,
            ("not scored", len(cases["errors"])),
            ("other answers, same scores", cases["answers_changed"]),
        ],
        "whole": [_compared(each, results, alpha) for each in whole],
        "cells": [_compared(each, results, alpha) for each in sure],
        "broken": _named(whole, "broken"),
        "fixed": _named(whole, "fixed"),
    }


def notes_of(results: Mapping[str, Any]) -> list[str]:
    """Return what the summary warns of."""
    plan = results["plan"]
    notes = [f"{testbed['name']}: {note}" for testbed in results["testbeds"].values() for note in testbed["notes"]]
    untrusted = [
        f"scores of the judge {each['judge']} do not count: {each['problem']}"
        for each in results.get("trust", ())
        if each["problem"]
    ]
    unselected = [f"{counted(plan['unselected'], 'case')} not selected"] if plan["unselected"] else []
    unmatched = [f"no case of this session matches the gate {gate}" for gate in plan["unmatched_gates"]]
    return [*plan["notes"], *notes, *untrusted, *unselected, *unmatched]


def _gate(gate: Mapping[str, Any]) -> dict[str, Any]:
    where = place_text(gate["slice"])
    n = f"{gate['n']:,}" + (f" of {counted(gate['n_cases'], 'case')}" if "n_cases" in gate else "")
    return {
        "expr": gate["expr"],
        "scope": gate["scope"],
        "status": gate["status"],
        "value": number(gate["value"]),
        "interval": interval(gate["ci95"]),
        "n": n,
        "errors": gate["n_errors"],
        "where": f"worst at {where}" if gate["cells"] and where else "",
        "cells": [_cell(cell) for cell in gate["cells"]],
        "baseline": "" if gate["baseline"] is None else number(gate["baseline"]),
        "delta": _delta(gate.get("delta"), gate.get("delta_ci95")) if gate.get("n_pairs") else "",
        "n_pairs": gate.get("n_pairs"),
        "p_value": "" if gate["p_value"] is None else p_text(gate["p_value"]),
        "least_drop": "" if gate.get("least_drop") is None else number(gate["least_drop"]),
        "verdict": (gate["verdict"] or "").replace("_", " "),
        "reason": gate["reason"] or "",
        "worst": [(each["nodeid"], number(each["value"])) for each in gate["worst"]],
    }


def _is_undecided(gate: Mapping[str, Any]) -> bool:
    """Return whether a gate that holds may hide a drop; `GateResult.undecided` of what results.json has."""
    cells = gate["cells"] or [gate]
    return gate["status"] == "passed" and any(cell.get("verdict") == "inconclusive" for cell in cells)


def _cell(cell: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "where": place_text(cell["slice"]),
        "status": cell["status"],
        "value": number(cell["value"]),
        "interval": interval(cell["ci95"]),
        "n": cell["n"],
        "reason": cell.get("reason", ""),
    }


def _compared(each: Mapping[str, Any], results: Mapping[str, Any], alpha: float) -> dict[str, Any]:
    causes = [f"{n} {cause}" for cause, n in each["causes"].items() if n]
    return {
        "testbed": results["testbeds"].get(each["testbed"], {}).get("name", each["testbed"]),
        "metric": each["metric"],
        "system": each["system"],
        "where": place_text(each["slice"]),
        "baseline": number(each["baseline"]),
        "value": number(each["value"]),
        "delta": _delta(each["delta"]),
        "interval": "–" if each["ci95"] is None else "[{:+.2f}, {:+.2f}]".format(*each["ci95"]),
        "p_holm": p_text(each["p_holm"]).removeprefix("p "),
        "q_value": number(each["q_value"]),
        "n": str(each["n"]) + (f" of {each['n_pairs']} cases" if each["n"] > each["n_pairs"] else ""),
        "least_drop": number(each["least_drop"]),
        "broken": len(each["broken"]),
        "fixed": len(each["fixed"]),
        "causes": few_of(tuple(causes), len(causes)) if causes else "",
        "sure": _is_beyond_noise(each, alpha),
    }


def _delta(delta: float | None, ci95: Sequence[float] | None = None) -> str:
    """Return ``-0.030``, and its interval where there is one."""
    text = "–" if delta is None else f"{delta:+.3f}"
    return text if ci95 is None else f"{text} [{ci95[0]:+.2f}, {ci95[1]:+.2f}]"


def _named(comparisons: Sequence[Mapping[str, Any]], key: str) -> dict[str, Any]:
    """Return the cases that broke or were mended in any metric, each with the metrics: (node id, metrics)."""
    found: dict[str, list[str]] = {}
    for each in comparisons:
        for nodeid in each[key]:
            found.setdefault(nodeid, []).append(each["metric"])
    named = [(nodeid, ", ".join(dict.fromkeys(metrics))) for nodeid, metrics in found.items()]
    return _listed(named)


def _listed(named: Sequence[tuple[str, str]]) -> dict[str, Any]:
    return {"n": len(named), "cases": named[:NAMED], "more": max(0, len(named) - NAMED)}


def _is_beyond_noise(each: Mapping[str, Any], alpha: float) -> bool:
    """Return what `Compared.is_beyond_noise` does, of what results.json has."""
    return each["p_holm"] is not None and each["p_holm"] <= alpha and bool(each["delta"])
