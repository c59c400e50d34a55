"""Hide repeated errors in pytest's sections: 64 equal errors need only one traceback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from pytest_rageval.report.run.account import account_of
from pytest_rageval.report.run.run import Run

__all__ = ["hide_repeated_errors"]


@contextmanager
def hide_repeated_errors(terminal: pytest.TerminalReporter, run: Run) -> Iterator[None]:
    """Keep only the first case of each cause of errors in the terminal's failures and errors, inside of the block.

    The account lists the number of cases. ``-v`` shows all of them.
    """
    findings = account_of(run).findings if terminal.config.option.verbose < 1 else ()
    repeated = {nodeid for each in findings if each.kind == "errors" for nodeid in each.cases[1:]}
    all_reports: dict[str, list[Any]] = {
        name: terminal.stats[name] for name in ("failed", "error") if name in terminal.stats
    }
    for name, reports in all_reports.items():
        terminal.stats[name] = [report for report in reports if getattr(report, "nodeid", "") not in repeated]
    try:
        yield
    finally:
        terminal.stats.update(all_reports)
