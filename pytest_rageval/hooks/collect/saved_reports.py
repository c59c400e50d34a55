"""How tests ended: their reports as lines of a run's folder, and the lines as reports again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

__all__ = ["Endings", "reports_of"]

_KEPT = ("sections", "user_properties", "wasxfail")
"""What else than outcome, duration and failure a report is told again with."""

_PAYLOAD = ("recordings", "retrievers", "versions")
"""What else than the outcome comes with a case."""

_SILENT = "the run that this test failed in keeps no texts (rag_report_texts = false)"


class Endings:
    """The tests that are under way in the reporting process.

    Args:
        config: pytest's.
        texts: False keeps the words of failures, and what tests printed, out of what is written.
    """

    def __init__(self, config: pytest.Config, *, texts: bool) -> None:
        self._config = config
        self._texts = texts
        self._outcomes: dict[str, dict[str, Any]] = {}
        self._reports: dict[str, dict[str, dict[str, Any]]] = {}

    def take_payload(self, nodeid: str, payload: Mapping[str, Any], line: int) -> None:
        """Note what comes with a case, and where its outcome stands; a case without a score has not ended."""
        self._outcomes.pop(nodeid, None)
        if payload["outcome"]["status"] == "scored":
            extras = {name: payload[name] for name in _PAYLOAD if payload[name]}
            self._outcomes[nodeid] = {"nodeid": nodeid, "line": line, **extras}

    def take_report(self, report: pytest.TestReport) -> str | None:
        """Return the line of a case once its test has been torn down; None before, and where it has to run again."""
        if report.when == "setup":
            self._reports[report.nodeid] = {}
        phases = self._reports.setdefault(report.nodeid, {})
        phases[str(report.when)] = self._encoded(report)
        if report.when != "teardown":
            return None
        del self._reports[report.nodeid]
        line = self._outcomes.pop(report.nodeid, None)
        ended = [phases.get(when, {}).get("outcome") for when in ("setup", "call", "teardown")]
        if line is None or ended[1] not in ("passed", "failed", "skipped") or ended[::2] != ["passed", "passed"]:
            return None
        keywords = {str(name): 1 for name in report.keywords}
        told = {"location": report.location, "keywords": keywords, "reports": phases}
        return json.dumps(line | told, default=str)

    def _encoded(self, report: pytest.TestReport) -> dict[str, Any]:
        plain: dict[str, Any] = {"outcome": report.outcome, "duration": report.duration}
        if not self._texts:
            if hasattr(report, "wasxfail"):
                plain["wasxfail"] = ""
            if report.skipped:
                plain["longrepr"] = (*report.location[:2], _SILENT)
            return plain | ({"longrepr": _SILENT} if report.failed else {})
        plain |= {name: getattr(report, name) for name in _KEPT if getattr(report, name, None) not in (None, [])}
        if report.longrepr is not None:
            told = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
            plain["longrepr"] = told["longrepr"]
        return plain


def reports_of(config: pytest.Config, line: Mapping[str, Any], payload: dict[str, Any]) -> Iterator[pytest.TestReport]:
    """Yield the reports of a test that ended in another run; what came of its case is on the second."""
    common = {"nodeid": line["nodeid"], "location": tuple(line["location"]), "keywords": line["keywords"]}
    for when, told in line["reports"].items():
        longrepr = told.get("longrepr")
        data = {"$report_type": "TestReport", "user_properties": [], "sections": [], **common, **told, "when": when}
        data["longrepr"] = tuple(longrepr) if isinstance(longrepr, list) else longrepr
        report = config.hook.pytest_report_from_serializable(config=config, data=data)
        if when == "call":
            report.rag = payload
        yield report
