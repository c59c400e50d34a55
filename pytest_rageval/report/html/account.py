"""The account of a run on the page's first screen: its causes, each with a link to exactly its cases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_rageval.analysis.account.finding import CAUSES_OF_FAILURE
from pytest_rageval.report.html.links import Cases
from pytest_rageval.report.run.verdict import RunVerdict

__all__ = ["causes_of", "dropped_in", "findings_of", "verdict_in"]


def verdict_in(results: Mapping[str, Any]) -> RunVerdict | None:
    """Return the account's verdict; None for results of versions without an account."""
    account = results.get("account")
    return RunVerdict(kind=account["state"], text=account["verdict"]) if account else None


def dropped_in(results: Mapping[str, Any]) -> set[str] | None:
    """Return `Account.dropped`; None for results of versions without an account."""
    if "account" not in results:
        return None
    drops = (each for each in results["account"]["findings"] if each["kind"] == "drop")
    return {case for each in drops for case in each.get("cases", ())}


def findings_of(results: Mapping[str, Any], cases: Cases) -> list[dict[str, Any]]:
    """Return the findings of the account as rows: sentence, further sentences, command, number of cases and link."""
    findings = results.get("account", {}).get("findings", ())
    return [_row(at, finding, cases) for at, finding in enumerate(findings)]


def causes_of(results: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return sentence and cases of each finding, for the list of cases to filter by."""
    findings = results.get("account", {}).get("findings", ())
    return [{"sentence": each["sentence"], "cases": each.get("cases", [])} for each in findings]


def _row(at: int, finding: Mapping[str, Any], cases: Cases) -> dict[str, Any]:
    n = sum(nodeid in cases for nodeid in finding.get("cases", ()))
    return {
        "is_cause": finding["kind"] in CAUSES_OF_FAILURE,
        "kind": finding["kind"],
        "sentence": finding["sentence"],
        "also": finding.get("also", ()),
        "command": finding.get("command", ""),
        "n": n,
        "to": f"cases&cause={at}&state=&sort=worst" if n else "",
    }
