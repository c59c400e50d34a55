"""Print the account at the end of the output, after pytest's short summary."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

from pytest_rageval.hooks.reporting.keys import RECORDER

if TYPE_CHECKING:
    from pytest_rageval.hooks.reporting.recorder import Recorder

__all__ = ["AccountPrinter", "recorder_to_report"]


def recorder_to_report(config: pytest.Config) -> Recorder | None:
    """Return the recorder of a session that ran or planned cases, or called models; else None."""
    recorder = config.stash.get(RECORDER, None)
    return recorder if recorder and (recorder.run.plan.testbeds or recorder.run.unclaimed.calls) else None


class AccountPrinter:
    """Plugin of the main process that prints the account after pytest's short summary."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> Generator[None, Any, Any]:
        """Show each error once in pytest's sections, and the account at the end."""
        recorder = recorder_to_report(terminalreporter.config)
        if recorder is None:
            return (yield)
        from pytest_rageval.hooks.reporting.repeated_errors import hide_repeated_errors
        from pytest_rageval.hooks.reporting.summary import print_account

        with hide_repeated_errors(terminalreporter, recorder.run):
            result = yield
        print_account(terminalreporter, recorder)
        return result
