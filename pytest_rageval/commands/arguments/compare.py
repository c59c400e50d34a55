"""The arguments of ``rageval compare``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from pytest_rageval.errors import SettingError

__all__ = ["add_to"]

DESCRIPTION = """\
Compare two runs; each is a baseline, a results.json, or a run under .rageval/runs. With one name, compare that run with
the ini's baseline or, if there is none, with the run before; without a name, the newest run. Report which cases broke
and which were fixed, for each metric, system and cell, worst first, and which differences are significant. Nothing
fails: the exit status is 0 unless a run cannot be read.
"""


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``compare``."""
    parser.description = DESCRIPTION
    parser.add_argument(
        "runs", nargs="*", metavar="RUN", help="the earlier and the later run, or only the later (default: the newest)"
    )
    parser.add_argument("--rows", metavar="FACET", help="facet of the rows of cells (default topic)")
    parser.add_argument("--cols", metavar="FACET", help="facet of the columns of cells (default task)")
    parser.add_argument("--alpha", default="0.05", metavar="A", help="accepted share of false alarms (default 0.05)")
    parser.add_argument("--plan", metavar="DROP", help="report how many cases are needed to detect a drop of this size")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--html", type=Path, metavar="PATH", help="also write the page of the later run against the earlier"
    )
    parser.add_argument("--markdown", type=Path, metavar="PATH", help="also write it as GitHub Markdown")
    parser.set_defaults(run_command=_run, pages=True)


def _run(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.compare import compare_runs

    if len(arguments.runs) > 2:
        raise SettingError(f"compare takes two runs, found {len(arguments.runs)}; name the earlier and the later one")
    base, new = [None, None, *arguments.runs][-2:]
    options = {name: getattr(arguments, name) for name in ("rows", "cols", "alpha", "plan", "html", "markdown")}
    return compare_runs(base, new, as_json=arguments.json, **options)
