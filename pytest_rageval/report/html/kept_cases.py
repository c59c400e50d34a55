"""Choose the cases whose texts a small page keeps: broken, fixed, missed, in error, or with a failed test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pytest_rageval.report.run.json_text import JsonText, from_json

__all__ = ["LARGEST", "HtmlCases", "KeptCases", "kept_cases"]

HtmlCases = Literal["all", "changed"]

LARGEST = 50_000
"""Outcomes of the largest page that holds all texts if nothing else is asked for."""

_LEFT_OUT = JsonText("null")


@dataclass(frozen=True, slots=True)
class KeptCases:
    """The outcomes and instances whose texts the page keeps.

    Attributes:
        outcomes: the outcomes in order, null for one that is left out.
        instances: the instances by case id, null for one that is left out.
        left_out: number of outcomes that are left out.
    """

    outcomes: list[Any]
    instances: dict[str, Any]
    left_out: int = 0


def kept_cases(results: Mapping[str, Any], cases: HtmlCases | None = None) -> KeptCases:
    """Return what the page keeps; all figures of the page still count every case.

    Without ``cases`` it keeps all up to `LARGEST`; of more, those that changed or failed.
    """
    if cases == "all" or (cases is None and len(results["outcomes"]) <= LARGEST):
        return KeptCases(list(results["outcomes"]), dict(results["instances"]))
    comparisons = results["comparison"]["comparisons"] if "comparison" in results else []
    named = {node for each in comparisons for key in ("broken", "fixed") for node in each[key]}
    named |= {node for each in results.get("account", {}).get("findings", ()) for node in each.get("cases", ())}
    named |= {row["nodeid"] for gate in results["gates"] for row in gate["worst"]} | {*results["run"].get("failed", ())}
    outcomes, kept = [], set()
    for encoded in results["outcomes"]:
        outcome = from_json(encoded)
        if outcome["nodeid"] in named or outcome.get("missed") or outcome["status"] == "error":
            outcomes.append(encoded)
            kept.add(outcome["case_id"])
        else:
            outcomes.append(_LEFT_OUT)
    instances = {key: each if key in kept else _LEFT_OUT for key, each in results["instances"].items()}
    return KeptCases(outcomes, instances, sum(each is _LEFT_OUT for each in outcomes))
