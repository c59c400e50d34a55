"""Print the summary after the session."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pytest

from pytest_rageval.errors import ascii_safe
from pytest_rageval.hooks.reporting.recorder import Recorder
from pytest_rageval.report.terminal.summary import summary_lines, written_lines
from pytest_rageval.report.text.colours import colours_of, paint
from pytest_rageval.report.text.lines import Line, counted, few_of, wrap

__all__ = ["print_summary"]


def print_summary(terminal: pytest.TerminalReporter, recorder: Recorder, lost: Sequence[str]) -> None:
    """Print the results of a session, the written files, and warnings.

    Args:
        terminal: pytest's terminal; gives width and verbosity.
        recorder: the recorded run, with evaluated gates.
        lost: messages about lost workers.
    """
    config = terminal.config
    width, verbosity = config.get_terminal_writer().fullwidth, config.option.verbose
    lines = list(summary_lines(recorder.run, recorder.choice, width, verbosity))
    if recorder.again and verbosity > -1:
        lines.append(Line(ascii_safe(recorder.again)))  # not wrapped, because its end is a command to copy
    if recorder.pruned and verbosity > 0:
        lines += wrap(Line(f"runs removed, as rag_keep_runs says: {few_of(tuple(recorder.pruned), 3)}"), width)
    if verbosity > -1:
        lines += written_lines(recorder.outlets.written, config.invocation_params.dir, width)
        lines += [Line(f"logged to MLflow: {ascii_safe(uri)}") for uri in recorder.outlets.sent]
    if recorder.dropped_steps:
        steps = counted(recorder.dropped_steps, "step")
        lines.append(Line(f"trace: {steps} came from threads without the case's context", "yellow"))
    lines += [Line(f"warning: {fault}", "yellow") for fault in (*lost, *recorder.outlets.faults)]
    if not lines:
        return
    colours = colours_of(os.environ) if terminal.hasmarkup else 0
    encoding = getattr(terminal._tw._file, "encoding", None)
    terminal.write_sep("=", "rag")
    for line in lines:
        terminal.write_line(paint(line, colours, encoding))
