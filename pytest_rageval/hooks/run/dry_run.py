"""``--rag-dry-run``: count the model calls of a session without running it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_rageval.errors import RagEvalError, message_with_code
from pytest_rageval.hooks.collect.keys import COLLECTED

if TYPE_CHECKING:
    from pytest_rageval.engine.estimate import AskRequests, Estimate

__all__ = ["DryRun", "stay_in_one_process"]


class DryRun:
    """Plugin of a dry run: counts model calls and prints them, instead of running tests."""

    def __init__(self) -> None:
        self._estimates: list[Estimate] | None = None
        self._names: dict[str, str] = {}
        self._own_systems: list[str] = []
        self._asking: list[AskRequests] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Count instead of running; collection errors fail the session as usual."""
        if session.testsfailed:
            return None
        if COLLECTED not in session.config.stash:
            self._estimates = []
            return True
        collected = session.config.stash[COLLECTED]
        from pytest_rageval.engine.estimate import estimates
        from pytest_rageval.hooks.collect.asking_tests import requests_by
        from pytest_rageval.hooks.prepare.model_calls import own_systems, planned_of

        try:
            self._estimates = estimates(planned_of(collected, session.items), collected.models.prompts)
        except RagEvalError as error:
            raise pytest.UsageError(message_with_code(error)) from None
        self._own_systems = list(own_systems(collected, session.items).values())
        self._asking = [each for item in session.items for each in requests_by(item)]
        self._names = {nodeid: testbed.name for nodeid, testbed in collected.testbeds.items()}
        return True

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the table of model calls, and the requests of ``rag_ask``."""
        if self._estimates is None:
            return
        terminalreporter.section("rag: dry run")
        from pytest_rageval.report.terminal.dry_run import dry_run_lines, request_lines

        if self._estimates:
            for line in dry_run_lines(self._estimates, self._names, self._own_systems):
                terminalreporter.write_line(line)
        else:
            terminalreporter.write_line("no RAG case would run")
        for line in request_lines(self._asking):
            terminalreporter.write_line(line)


def stay_in_one_process(config: pytest.Config) -> None:
    """Undo ``-n``: counting needs no workers."""
    if hasattr(config.option, "tx"):
        config.option.dist, config.option.tx, config.option.numprocesses = "no", [], None
