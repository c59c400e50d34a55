"""Show one test of each error in pytest's sections: 64 equal errors need no 64 tracebacks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from pytest_rageval.report.run.account import account_of
from pytest_rageval.report.run.run import Run

__all__ = ["shown_once"]


@contextmanager
def shown_once(terminal: pytest.TerminalReporter, run: Run) -> Iterator[None]:
    """Leave all but the first case of each error cause out of the terminal's failures and errors, for a while.

    The account says how many there are. ``-v`` shows them all.
    """
    findings = account_of(run).findings if terminal.config.option.verbose < 1 else ()
    repeated = {nodeid for each in findings if each.kind == "errors" for nodeid in each.cases[1:]}
    whole: dict[str, list[Any]] = {name: terminal.stats[name] for name in ("failed", "error") if name in terminal.stats}
    for name, reports in whole.items():
        terminal.stats[name] = [report for report in reports if getattr(report, "nodeid", "") not in repeated]
    try:
        yield
    finally:
        terminal.stats.update(whole)
