"""Encode the test reports of ended cases as JSON lines, and restore reports from them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

__all__ = ["ReportSaver", "reports_of"]

_ATTRIBUTES = ("sections", "user_properties", "wasxfail")
"""Report attributes saved in addition to outcome, duration and failure."""

_PAYLOAD = ("recordings", "retrievers", "versions")
"""Keys of a case's payload saved in addition to the outcome."""

_to_json = json.JSONEncoder(default=str).encode

_TEXT_REMOVED = "the run that this test failed in keeps no texts (rag_report_texts = false)"


class ReportSaver:
    """Collects the reports of running tests and encodes them, in the reporting process.

    Args:
        config: pytest's config.
        texts: whether the lines include failure messages and test output.
    """

    def __init__(self, config: pytest.Config, *, texts: bool) -> None:
        self._config = config
        self._texts = texts
        self._outcomes: dict[str, dict[str, Any]] = {}
        self._reports: dict[str, dict[str, dict[str, Any]]] = {}

    def take_payload(self, outcome: Mapping[str, Any], payload: Mapping[str, Any], line: int) -> None:
        """Store a case's payload and the line number of its outcome; ignore a case without a score."""
        nodeid = outcome["nodeid"]
        self._outcomes.pop(nodeid, None)
        if outcome["status"] == "scored":
            extras = {name: payload[name] for name in _PAYLOAD if payload[name]}
            self._outcomes[nodeid] = {"nodeid": nodeid, "line": line, **extras}

    def take_report(self, report: pytest.TestReport) -> str | None:
        """Return the JSON line of a case after its teardown; None before, or if the case must run again on resume."""
        if report.when == "setup":
            self._reports[report.nodeid] = {}
        phases = self._reports.setdefault(report.nodeid, {})
        phases[str(report.when)] = self._encoded(report)
        if report.when != "teardown":
            return None
        del self._reports[report.nodeid]
        line = self._outcomes.pop(report.nodeid, None)
        setup, call, teardown = (phases.get(when, {}).get("outcome") for when in ("setup", "call", "teardown"))
        if line is None or call not in ("passed", "failed", "skipped") or (setup, teardown) != ("passed", "passed"):
            return None
        keywords = {str(name): 1 for name in report.keywords}
        saved = {"location": report.location, "keywords": keywords, "reports": phases}
        return _to_json(line | saved)

    def _encoded(self, report: pytest.TestReport) -> dict[str, Any]:
        plain: dict[str, Any] = {"outcome": report.outcome, "duration": report.duration}
        if not self._texts:
            if hasattr(report, "wasxfail"):
                plain["wasxfail"] = ""
            if report.skipped:
                plain["longrepr"] = (*report.location[:2], _TEXT_REMOVED)
            return plain | ({"longrepr": _TEXT_REMOVED} if report.failed else {})
        for name in _ATTRIBUTES:
            value = getattr(report, name, None)
            if value or value == "":
                plain[name] = value
        if report.longrepr is not None:
            data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
            plain["longrepr"] = data["longrepr"]
        return plain


def reports_of(config: pytest.Config, line: Mapping[str, Any], payload: dict[str, Any]) -> Iterator[pytest.TestReport]:
    """Yield the setup, call and teardown reports of a test that ended in another run; the call has the payload."""
    common = {"nodeid": line["nodeid"], "location": tuple(line["location"]), "keywords": line["keywords"]}
    for when, phase in line["reports"].items():
        longrepr = phase.get("longrepr")
        data = {"$report_type": "TestReport", "user_properties": [], "sections": [], **common, **phase, "when": when}
        data["longrepr"] = tuple(longrepr) if isinstance(longrepr, list) else longrepr
        report = config.hook.pytest_report_from_serializable(config=config, data=data)
        if when == "call":
            report.rag = payload
        yield report
