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

HEAD = ("run", "started", "cases", "errors", "gates failed", "size", "verdict")
WORDS = ("run", "started", "verdict")


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
    found = [summary_of(folder) for folder in stored_runs(runs)]
    if arguments.json:
        yield json.dumps([asdict(each) for each in found], indent=1)
    elif found:
        yield from _lines(found)
    else:
        yield f"No run is stored under {runs} yet; pytest stores one."


def _lines(found: list[RunSummary]) -> Iterator[str]:
    from pytest_rageval.errors import ascii_safe

    rows = [HEAD, *(tuple(map(ascii_safe, _row(each))) for each in found)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = zip(HEAD, row, widths, strict=True)
        yield "  ".join(f"{cell:{'<' if head in WORDS else '>'}{width}}" for head, cell, width in cells).rstrip()


def _row(each: RunSummary) -> tuple[str, ...]:
    started = (each.started or "?").partition("+")[0].replace("T", " ")
    gates = "?" if each.gates is None else f"{each.gates_failed:,} of {each.gates:,}" if each.gates else "-"
    counts = ("?" if count is None else f"{count:,}" for count in (each.cases, each.errors))
    return (each.name, started, *counts, gates, f"{each.size / 1e6:,.1f} MB", each.verdict)
