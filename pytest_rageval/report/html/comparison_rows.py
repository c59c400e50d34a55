"""Convert the comparison with the baseline to texts for the page's tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_rageval.analysis.account.sentences import broken_text
from pytest_rageval.model.facets import place_text
from pytest_rageval.report.html.account_rows import dropped_cases
from pytest_rageval.report.html.links import case_list
from pytest_rageval.report.sections.comparison import p_text
from pytest_rageval.report.text.lines import counted, few_of, number

__all__ = ["alpha_of", "comparison_of", "delta_text", "is_primary", "is_significant", "p_value_text"]


def comparison_of(results: Mapping[str, Any], statuses: Mapping[str, int]) -> dict[str, Any] | None:
    """Return the texts of the comparison; None without a baseline. ``statuses`` counts the outcomes."""
    comparison = results.get("comparison")
    if comparison is None:
        return None
    alpha = alpha_of(results)
    overall = [each for each in comparison["comparisons"] if not each["slice"]]
    significant = [each for each in comparison["comparisons"] if each["slice"] and is_significant(each, alpha)]
    primary = [each for each in overall if is_primary(each, results)]
    cases = comparison["cases"]
    kinds = {"new": "new", "removed": "gone", "changed": "changed", "renamed": "renamed"}
    counts = [(kind, len(cases[key])) for kind, key in kinds.items()]
    same_data = comparison["baseline"].get("same_fingerprint", True)
    return {
        "of": _baseline_run(results),
        "others": not same_data and _all_cases_ran(results, statuses),
        "cases": [
            ("compared", cases["compared"]),
            *counts,
            ("in error", len(cases["errors"])),
            ("other answers, same scores", cases["answers_changed"]),
        ],
        "whole": [_row(each, results) for each in overall],
        "cells": [_row(each, results) for each in significant],
        "broken": _case_list(primary, "broken"),
        "broken_text": broken_text(
            [case for each in primary for case in each["broken"]], dropped_cases(results)
        ).capitalize(),
        "fixed": _case_list(primary, "fixed"),
    }


def _baseline_run(results: Mapping[str, Any]) -> dict[str, Any]:
    """Return the baseline's path, run and start; results of another version may have them elsewhere."""
    baseline = results.get("baseline", {})
    run = baseline.get("run", {})
    defaults = {"path": baseline.get("path", ""), "run": run.get("id", ""), "started": run.get("started", "")}
    return {**defaults, **results["comparison"]["baseline"]}


def alpha_of(results: Mapping[str, Any]) -> float:
    """Return the accepted rate of false alarms; 0.05 for results of older versions."""
    alpha: float = results["plan"].get("alpha", 0.05)
    return alpha


def delta_text(delta: float | None, ci95: Sequence[float] | None = None) -> str:
    """Format a difference as ``-0.030``, followed by its interval if there is one."""
    text = "–" if delta is None else f"{delta:+.3f}"
    return text if ci95 is None else f"{text} [{ci95[0]:+.2f}, {ci95[1]:+.2f}]"


def p_value_text(p_value: float | None) -> str:
    """Format a p-value as ``p 0.012``, a small one as ``p < 0.001``."""
    return "p < 0.001" if p_value is not None and p_value < 0.001 else p_text(p_value)


def is_significant(each: Mapping[str, Any], alpha: float) -> bool:
    """Return whether a comparison of results.json is significant, like `MetricComparison.is_significant`."""
    return each["p_holm"] is not None and each["p_holm"] <= alpha and bool(each["delta"])


def is_primary(each: Mapping[str, Any], results: Mapping[str, Any]) -> bool:
    """Return whether a comparison of results.json is of the primary metric, like `Comparison.is_primary`."""
    testbed = results["testbeds"].get(each["testbed"])
    return testbed is not None and each["metric"] == testbed["metrics"][0]


def _all_cases_ran(results: Mapping[str, Any], statuses: Mapping[str, int]) -> bool:
    """Return whether all cases of all testbeds ran, like `Comparison.whole`; False if that is unknown."""
    plan = results["plan"]
    left_out = plan.get("part") or plan.get("narrowed") or plan["unfinished"] or statuses.get("skipped")
    has_all_testbeds = results["baseline"]["testbeds"].keys() <= results["testbeds"].keys()
    return has_all_testbeds and not (left_out or results["run"]["interrupted"])


def _row(each: Mapping[str, Any], results: Mapping[str, Any]) -> dict[str, Any]:
    n_scores = each.get("n", each["n_pairs"])
    causes = [f"{n} {cause}" for cause, n in each["causes"].items() if n]
    if by_answer := each.get("by_answer", 0):
        causes.append("by answer" if by_answer == sum(each["causes"].values()) else f"{by_answer} by answer")
    return {
        "testbed": results["testbeds"].get(each["testbed"], {}).get("name", each["testbed"]),
        "metric": each["metric"],
        "system": each["system"],
        "where": place_text(each["slice"]),
        "baseline": number(each["baseline"]),
        "value": number(each["value"]),
        "delta": delta_text(each["delta"]),
        "interval": "–" if each["ci95"] is None else "[{:+.2f}, {:+.2f}]".format(*each["ci95"]),
        "p_holm": p_value_text(each["p_holm"]).removeprefix("p "),
        "n": str(n_scores) + (f" ({counted(each['n_pairs'], 'case')})" if n_scores > each["n_pairs"] else ""),
        "least_drop": number(each["least_drop"]),
        "broken": len(each["broken"]),
        "fixed": len(each["fixed"]),
        "causes": few_of(tuple(causes), len(causes)) if causes else "",
        "sure": is_significant(each, alpha_of(results)),
    }


def _case_list(comparisons: Sequence[Mapping[str, Any]], key: str) -> dict[str, Any]:
    """Return the list of broken or fixed cases, each as (node id, metrics)."""
    metrics_by_case: dict[str, list[str]] = {}
    for each in comparisons:
        for nodeid in each[key]:
            metrics_by_case.setdefault(nodeid, []).append(each["metric"])
    cases = [(nodeid, ", ".join(dict.fromkeys(metrics))) for nodeid, metrics in metrics_by_case.items()]
    return case_list(cases)
