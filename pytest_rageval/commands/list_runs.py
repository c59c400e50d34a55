"""``rageval runs``: list the stored runs, newest first."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_rageval.commands.run_summaries import RunSummary

__all__ = ["add_to"]

DESCRIPTION = """\
List the runs under .rageval/runs, newest first: when each started, its cases, errors and failed gates, its size and its
verdict. The ini rag_keep_runs says how many are stored.
"""

COLUMNS = ("run", "started", "cases", "errors", "gates failed", "size", "verdict")
LEFT_ALIGNED = ("run", "started", "verdict")


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``runs``."""
    parser.description = DESCRIPTION
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run_command=_run, pages=True)


def _run(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.run_summaries import summary_of
    from pytest_rageval.commands.runs import rootdir, runs_of
    from pytest_rageval.report.files.run_names import stored_runs

    runs = runs_of(rootdir(Path.cwd()))
    summaries = [summary_of(folder) for folder in stored_runs(runs)]
    if arguments.json:
        yield json.dumps([asdict(each) for each in summaries], indent=1)
    elif summaries:
        yield from _lines(summaries)
    else:
        yield f"No run is stored under {runs} yet; pytest stores one."


def _lines(summaries: list[RunSummary]) -> Iterator[str]:
    """Yield the table of the runs."""
    from pytest_rageval.errors import ascii_safe

    rows = [COLUMNS, *(tuple(map(ascii_safe, _row(each))) for each in summaries)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = zip(COLUMNS, row, widths, strict=True)
        yield "  ".join(f"{cell:{'<' if head in LEFT_ALIGNED else '>'}{width}}" for head, cell, width in cells).rstrip()


def _row(run: RunSummary) -> tuple[str, ...]:
    """Return the cells of a run, in the order of `COLUMNS`; "?" is unknown."""
    started = (run.started or "?").partition("+")[0].replace("T", " ")
    gates = "?" if run.gates is None else f"{run.gates_failed:,} of {run.gates:,}" if run.gates else "-"
    counts = ("?" if count is None else f"{count:,}" for count in (run.cases, run.errors))
    return (run.name, started, *counts, gates, f"{run.size / 1e6:,.1f} MB", run.verdict)
