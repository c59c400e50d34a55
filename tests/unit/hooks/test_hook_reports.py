"""The payload of a case that its report keeps after recording."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pytest_rageval.hooks.reporting.hooks import Reporting
from pytest_rageval.hooks.reporting.keys import RECORDER


def test_each_report_keeps_a_separate_payload_with_its_mark() -> None:
    recorder: Any = SimpleNamespace(take_outcome=lambda payload: None, take_report=lambda report: None)
    config: Any = SimpleNamespace(stash=pytest.Stash())
    config.stash[RECORDER] = recorder
    reports = [
        SimpleNamespace(nodeid=name, when="call", failed=False, rag={"missed": True, "text": "long"}) for name in "ab"
    ]
    for report in reports:
        Reporting(config).pytest_runtest_logreport(report)  # type: ignore[arg-type]
    reports[0].rag["missed"] = False
    assert [report.rag for report in reports] == [{"missed": False}, {"missed": True}]
