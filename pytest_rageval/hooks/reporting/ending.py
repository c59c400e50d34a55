"""Print the account at the end of the output, after pytest's short summary."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

from pytest_rageval.hooks.reporting.keys import RECORDER

if TYPE_CHECKING:
    from pytest_rageval.hooks.reporting.recorder import Recorder

__all__ = ["Ending", "reported"]


def reported(config: pytest.Config) -> Recorder | None:
    """Return the recorder of a session with something to report, else None."""
    recorder = config.stash.get(RECORDER, None)
    return recorder if recorder and (recorder.run.plan.testbeds or recorder.run.unclaimed.calls) else None


class Ending:
    """Plugin of the main process that prints the account after pytest's short summary."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> Generator[None, Any, Any]:
        """Show each error once in pytest's sections, and the account at the end."""
        recorder = reported(terminalreporter.config)
        if recorder is None:
            return (yield)
        from pytest_rageval.hooks.reporting.equal_errors import shown_once
        from pytest_rageval.hooks.reporting.summary import print_account

        with shown_once(terminalreporter, recorder.run):
            result = yield
        print_account(terminalreporter, recorder)
        return result
