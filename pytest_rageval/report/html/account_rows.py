"""Convert a run's account to rows of the page: causes, each with a link to its cases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_rageval.analysis.account.finding import CAUSES_OF_FAILURE
from pytest_rageval.report.html.links import Cases
from pytest_rageval.report.run.verdict import RunVerdict

__all__ = ["causes_of", "dropped_cases", "findings_of", "stored_verdict"]


def stored_verdict(results: Mapping[str, Any]) -> RunVerdict | None:
    """Return the account's verdict; None if an older version wrote the results without an account."""
    account = results.get("account")
    return RunVerdict(kind=account["state"], text=account["verdict"]) if account else None


def dropped_cases(results: Mapping[str, Any]) -> set[str] | None:
    """Return the node ids of cases of significant drops, like `Account.dropped`; None without an account."""
    if "account" not in results:
        return None
    drop_findings = (each for each in results["account"]["findings"] if each["kind"] == "drop")
    return {case for each in drop_findings for case in each.get("cases", ())}


def findings_of(results: Mapping[str, Any], cases: Cases) -> list[dict[str, Any]]:
    """Return a row for each finding: its sentences, command, number of cases and link to them."""
    findings = results.get("account", {}).get("findings", ())
    return [_row(at, finding, cases) for at, finding in enumerate(findings)]


def causes_of(results: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the sentence and cases of each finding, by which the list of cases can be filtered."""
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
