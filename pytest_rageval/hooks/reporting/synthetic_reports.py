"""Send pytest the reports of resumed cases, and store failed gates' cases for ``--lf``."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from pytest_rageval.report.run.gate_results import NamedGate

__all__ = ["send_reports", "store_failed_cases"]


def send_reports(config: pytest.Config, reports: Iterable[pytest.TestReport]) -> None:
    """Call pytest's reporting hooks with the reports of a test that does not run, as if it ran."""
    first, *others = reports
    config.hook.pytest_runtest_logstart(nodeid=first.nodeid, location=first.location)
    for report in (first, *others):
        config.hook.pytest_runtest_logreport(report=report)
    config.hook.pytest_runtest_logfinish(nodeid=first.nodeid, location=first.location)


def store_failed_cases(
    config: pytest.Config, gates: list[NamedGate], cases: dict[str, tuple[str, str, str, int]]
) -> None:
    """Store the cases of failed gates for ``--lf``, never the gates: a gate needs its cases to be decided.

    Args:
        config: the configuration of pytest.
        gates: the evaluated gates.
        cases: node id -> case id, testbed, system and index of its facets, as in the plan.
    """
    cache = getattr(config, "cache", None)
    if cache is None or not gates:
        return
    stored = cache.get("cache/lastfailed", {})
    failed = {nodeid: True for nodeid in stored if "[gate: " not in nodeid}
    for gate in gates:
        if gate.result.status == "failed":
            testbed = gate.nodeid.partition("[gate: ")[0]
            is_session_gate = gate.result.scope == "session"
            failed.update({nodeid: True for nodeid, case in cases.items() if is_session_gate or case[1] == testbed})
    if failed != stored:
        cache.set("cache/lastfailed", failed)
