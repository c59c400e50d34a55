"""Select the cases whose texts the page contains: all, or those that changed or failed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pytest_rageval.report.run.json_text import JsonText, from_json

__all__ = ["MAX_OUTCOMES", "HtmlCases", "TextSelection", "select_texts"]

HtmlCases = Literal["all", "changed"]

MAX_OUTCOMES = 50_000
"""Maximum number of outcomes for which a page contains all texts by default."""

_LEFT_OUT = JsonText("null")


@dataclass(frozen=True, slots=True)
class TextSelection:
    """The outcomes and instances whose texts the page contains.

    Attributes:
        outcomes: all outcomes in order; JSON null for an outcome whose texts are left out.
        instances: all instances by case id; JSON null for an instance whose texts are left out.
        left_out: number of outcomes whose texts are left out.
    """

    outcomes: list[Any]
    instances: dict[str, Any]
    left_out: int = 0


def select_texts(results: Mapping[str, Any], cases: HtmlCases | None = None) -> TextSelection:
    """Select the outcomes and instances whose texts the page contains; its figures still count all cases.

    Args:
        results: the content of results.json.
        cases: "changed" for the cases that broke, were fixed, missed, ended in an error or are named by a finding, a
            gate or a failed test; None means "all" for up to `MAX_OUTCOMES` outcomes, else "changed".
    """
    if cases == "all" or (cases is None and len(results["outcomes"]) <= MAX_OUTCOMES):
        return TextSelection(list(results["outcomes"]), dict(results["instances"]))
    comparisons = results["comparison"]["comparisons"] if "comparison" in results else []
    selected_nodeids = {node for each in comparisons for key in ("broken", "fixed") for node in each[key]}
    selected_nodeids |= {
        node for each in results.get("account", {}).get("findings", ()) for node in each.get("cases", ())
    }
    selected_nodeids |= {row["nodeid"] for gate in results["gates"] for row in gate["worst"]} | {
        *results["run"].get("failed", ())
    }
    outcomes, case_ids = [], set()
    for encoded in results["outcomes"]:
        outcome = from_json(encoded)
        if outcome["nodeid"] in selected_nodeids or outcome.get("missed") or outcome["status"] == "error":
            outcomes.append(encoded)
            case_ids.add(outcome["case_id"])
        else:
            outcomes.append(_LEFT_OUT)
    instances = {key: each if key in case_ids else _LEFT_OUT for key, each in results["instances"].items()}
    return TextSelection(outcomes, instances, sum(each is _LEFT_OUT for each in outcomes))
