"""``--rag-dry-run``: count what a session would ask, and run nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_rageval.errors import RagEvalError
from pytest_rageval.hooks.collect.keys import COLLECTED

if TYPE_CHECKING:
    from pytest_rageval.engine.estimate import Estimate

__all__ = ["DryRun", "stay_in_one_process"]


class DryRun:
    """A plugin of a session that only counts."""

    def __init__(self) -> None:
        self._found: list[Estimate] | None = None
        self._names: dict[str, str] = {}
        self._own: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Count instead of running; what could not be collected fails the session as it always does."""
        if session.testsfailed:
            return None
        if COLLECTED not in session.config.stash:
            self._found = []
            return True
        collected = session.config.stash[COLLECTED]
        from pytest_rageval.engine.estimate import estimates
        from pytest_rageval.hooks.prepare.model_calls import own_systems, planned_of

        try:
            self._found = estimates(planned_of(collected, session.items), collected.models.prompts)
        except RagEvalError as error:
            raise pytest.UsageError(str(error)) from None
        self._own = list(own_systems(collected, session.items).values())
        self._names = {nodeid: testbed.name for nodeid, testbed in collected.testbeds.items()}
        return True

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the table."""
        if self._found is None:
            return
        terminalreporter.section("rag: dry run")
        if not self._found:
            terminalreporter.write_line("no RAG case would run")
            return
        from pytest_rageval.report.terminal.dry_run import dry_run_lines

        for line in dry_run_lines(self._found, self._names, self._own):
            terminalreporter.write_line(line)


def stay_in_one_process(config: pytest.Config) -> None:
    """Take back what ``-n`` asked for: counting takes no workers."""
    if hasattr(config.option, "tx"):
        config.option.dist, config.option.tx, config.option.numprocesses = "no", [], None
