"""Print the summary and the account after the session."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path

import pytest

from pytest_rageval.errors import ascii_safe
from pytest_rageval.hooks.reporting.recorder import Recorder
from pytest_rageval.report.terminal.account_block import SessionFacts, account_lines
from pytest_rageval.report.terminal.summary import section_lines, written_lines
from pytest_rageval.report.text.colours import colours_of, paint
from pytest_rageval.report.text.lines import Line, counted, few_of, wrap

__all__ = ["print_account", "print_summary"]


def print_summary(terminal: pytest.TerminalReporter, recorder: Recorder, lost_workers: Sequence[str]) -> None:
    """Print the sections that options request, the written files, and warnings.

    Args:
        terminal: pytest's terminal; gives width and verbosity.
        recorder: the recorded run, with evaluated gates.
        lost_workers: messages about lost workers.
    """
    config = terminal.config
    width, verbosity = config.get_terminal_writer().fullwidth, config.option.verbose
    lines = list(section_lines(recorder.run, recorder.choice, width, verbosity))
    if recorder.run.resumed_note and verbosity == 0:  # with -v it is below the counts
        lines += wrap(Line(ascii_safe(recorder.run.resumed_note)), width)
    if recorder.rerun_advice and verbosity > -1:
        lines.append(Line(ascii_safe(recorder.rerun_advice)))  # not wrapped, because its end is a command to copy
    if recorder.pruned and verbosity > 0:
        lines += wrap(Line(f"runs removed because of rag_keep_runs: {few_of(tuple(recorder.pruned), 3)}"), width)
    if verbosity > -1:
        lines += written_lines(recorder.outputs.paths, config.invocation_params.dir, width)
        lines += [Line(f"logged to MLflow: {ascii_safe(uri)}") for uri in recorder.outputs.mlflow_stores]
    if recorder.dropped_steps:
        steps = counted(recorder.dropped_steps, "step")
        lines.append(Line(f"trace: {steps} came from threads without the case's context", "yellow"))
    lines += [Line(f"warning: {fault}", "yellow") for fault in (*lost_workers, *recorder.outputs.faults)]
    if lines:
        terminal.write_sep("=", "rag")
        _write(terminal, lines)


def print_account(terminal: pytest.TerminalReporter, recorder: Recorder) -> None:
    """Print the account, after the missed cases if ``-ra`` requests them."""
    config = terminal.config
    width, verbosity = config.get_terminal_writer().fullwidth, config.option.verbose
    missed = terminal.stats.get("missed", []) if set("aAm") & set(config.option.reportchars) else []
    lines = [Line(ascii_safe(f"MISSED {report.nodeid} - {report.rag['missed']}")) for report in missed]
    if lines:
        terminal.write_sep("=", "missed cases")
    here, root = config.invocation_params.dir, config.rootpath
    prefix = "" if here == root else f"{Path(os.path.relpath(root, here)).as_posix()}/"
    page = recorder.options.reports.html
    is_written = page is not None and page in recorder.outputs.paths
    seconds = (datetime.now(timezone.utc) - recorder.run.started).total_seconds()
    facts = SessionFacts(seconds, os.path.relpath(page, here) if page is not None and is_written else "", prefix)
    account = list(account_lines(recorder.run, facts, width, verbosity))
    _write(terminal, [*lines, *((Line(""),) if account else ()), *account])


def _write(terminal: pytest.TerminalReporter, lines: Sequence[Line]) -> None:
    colours = colours_of(os.environ) if terminal.hasmarkup else 0
    encoding = getattr(terminal._tw._file, "encoding", None)
    for line in lines:
        terminal.write_line(paint(line, colours, encoding))
