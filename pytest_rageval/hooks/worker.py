"""The hooks of an xdist worker: what it hands over besides its reports."""

from __future__ import annotations

import pytest

__all__ = ["WorkerReporting"]


class WorkerReporting:
    """A plugin of xdist workers only: hands the plan over."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        """Send the plan ahead of the first test, which may be the one that ends this process."""
        from pytest_rageval.hooks.runtest import PLAN

        plan = item.config.stash.get(PLAN, None)
        if plan is not None:
            del item.config.stash[PLAN]
            report = pytest.TestReport(item.nodeid, item.location, {}, "passed", None, "setup", rag_plan=plan)
            item.config.hook.pytest_runtest_logreport(report=report)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Leave a plan that no test took along in the worker's output."""
        from pytest_rageval.hooks.runtest import PLAN

        plan = session.config.stash.get(PLAN, None)
        if plan is not None:
            session.config.workeroutput["rag_plan"] = plan  # type: ignore[attr-defined]
