"""Fire reports of resumed cases, and store the cases of failed gates for ``--lf``."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from pytest_rageval.report.run.gate_results import NamedGate

__all__ = ["fire", "remember_failed"]


def fire(config: pytest.Config, reports: Iterable[pytest.TestReport]) -> None:
    """Fire the reports of a test without an item, as if it ran."""
    first, *others = reports
    config.hook.pytest_runtest_logstart(nodeid=first.nodeid, location=first.location)
    for report in (first, *others):
        config.hook.pytest_runtest_logreport(report=report)
    config.hook.pytest_runtest_logfinish(nodeid=first.nodeid, location=first.location)


def remember_failed(config: pytest.Config, gates: list[NamedGate], cases: dict[str, tuple[str, str, str, int]]) -> None:
    """Store a failed gate's cases for ``--lf``, never the gate: without its cases it has nothing to decide."""
    cache = getattr(config, "cache", None)
    if cache is None or not gates:
        return
    stored = cache.get("cache/lastfailed", {})
    remembered = {nodeid: True for nodeid in stored if "[gate: " not in nodeid}
    for named in gates:
        if named.result.status == "failed":
            testbed = named.nodeid.partition("[gate: ")[0]
            everywhere = named.result.scope == "session"
            remembered.update(
                {nodeid: True for nodeid, planned in cases.items() if everywhere or planned[1] == testbed}
            )
    if remembered != stored:
        cache.set("cache/lastfailed", remembered)
