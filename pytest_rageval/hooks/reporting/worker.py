"""Hooks of an xdist worker: send the plan, skip tests of dead workers, end if cut off."""

from __future__ import annotations

import pytest

from pytest_rageval.hooks.collect.keys import COLLECTED

__all__ = ["WorkerReporting"]


class WorkerReporting:
    """Plugin of xdist workers only."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """On another machine, detect a lost connection: execnet then ends this worker, and its server listens again."""
        config = session.config
        if "rag_from" not in config.workerinput:  # type: ignore[attr-defined]
            return
        from pytest_rageval.hooks.reporting.remote_workers import keep_alive

        for plugin in config.pluginmanager.get_plugins():
            gateway = getattr(getattr(plugin, "channel", None), "gateway", None)  # of xdist's own plugin
            if gateway is not None:
                keep_alive(gateway._io)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """Leave out tests that a dead worker was running; send the plan before the first test."""
        if COLLECTED not in item.config.stash:
            return None
        from pytest_rageval.hooks.prepare.suspects import suspects_of
        from pytest_rageval.hooks.run.journal import note_running

        suspects = suspects_of(item.config)
        if suspects is not None and item.nodeid in suspects:
            _leave_out(item, nextitem)
            return True
        _send_plan(item)
        note_running(item)
        return None

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Put the plan into the worker's output if no test sent it, and what was seen of the systems' calls."""
        from pytest_rageval.hooks.reporting.case_reports import PLAN
        from pytest_rageval.hooks.reporting.seen_calls import send_seen_calls

        plan = session.config.stash.get(PLAN, None)
        send_seen_calls(session.config)
        if plan is not None:
            session.config.workeroutput["rag_plan"] = plan  # type: ignore[attr-defined]


def _send_plan(item: pytest.Item) -> None:
    """Send the plan before a test, because the test may end this process."""
    from pytest_rageval.hooks.reporting.case_reports import PLAN

    plan = item.config.stash.get(PLAN, None)
    if plan is not None:
        del item.config.stash[PLAN]
        report = pytest.TestReport(item.nodeid, item.location, {}, "passed", None, "setup", rag_plan=plan)
        item.config.hook.pytest_runtest_logreport(report=report)


def _leave_out(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Tear down fixtures that the next test does not need; report only errors of the teardown."""
    call = pytest.CallInfo.from_call(lambda: item.session._setupstate.teardown_exact(nextitem), "teardown")
    if call.excinfo is not None:
        report = item.ihook.pytest_runtest_makereport(item=item, call=call)
        item.ihook.pytest_runtest_logreport(report=report)
