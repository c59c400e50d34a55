"""Ending a session, before anything runs, with pytest's usage error: one sentence and exit status 4.

An exception in a collector would be a collection error with a traceback, and one in an xdist worker
an internal error. So a refusal travels as a failed collection report, which xdist forwards, and the
main process, with xdist the controller, turns it into a usage error.
"""

from __future__ import annotations

import pytest

__all__ = ["REFUSED", "Refusals", "refuse"]

REFUSED = pytest.StashKey[list[str]]()
"""On the config: what collectors found unusable."""


def refuse(config: pytest.Config, nodeid: str, message: str) -> None:
    """End the session with a usage error that says ``message``."""
    report = pytest.CollectReport(nodeid, "failed", message, [], rag_refused=message)
    config.hook.pytest_collectreport(report=report)


class Refusals:
    """A plugin of the main process only: raises what collectors refused."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Raise a refusal as a usage error, before any other plugin counts it as a failure."""
        message = getattr(report, "rag_refused", None)
        if message is not None:
            raise pytest.UsageError(message)
