"""Load the runs of an analysis, and print its tables or write them to files."""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_rageval.activity import doing
from pytest_rageval.commands.command_parser import RUN
from pytest_rageval.commands.exports.formats import STDOUT
from pytest_rageval.commands.paging import terminal_colours
from pytest_rageval.commands.runs import results_path, rootdir, stored_run
from pytest_rageval.errors import SettingError, UnknownNameError, ascii_safe, short_repr
from pytest_rageval.model.facets import OF_SYSTEMS
from pytest_rageval.report.files.join_runs import JoinedRuns, join_runs
from pytest_rageval.report.files.merge_shards import NamedRun
from pytest_rageval.report.files.run_folder import write_text
from pytest_rageval.report.sections.section import Table
from pytest_rageval.report.text.colours import paint
from pytest_rageval.report.text.lines import Line, wrap
from pytest_rageval.report.text.tables import table

__all__ = [
    "add_formats",
    "check_facet",
    "json_text",
    "load_joined_runs",
    "load_runs",
    "select_metric",
    "table_lines",
    "write_formats",
]


def add_formats(parser: argparse.ArgumentParser, formats: Mapping[str, str]) -> None:
    """Add the argument RUN and one option for each format; the option without a path, or with ``-``, prints."""
    parser.add_argument("runs", nargs="*", metavar="RUN", help=f"{RUN} (default: the newest)")
    for name, what in formats.items():
        parser.add_argument(f"--{name}", nargs="?", const=STDOUT, metavar="PATH", help=f"{what}; - prints it")


def load_joined_runs(names: Sequence[str]) -> JoinedRuns:
    """Load runs, by default the newest one, and join them.

    Raises:
        SettingError: a run cannot be read, or the runs differ in their data or settings.
    """
    runs = load_runs(names)
    with doing("joining the runs"):
        return join_runs(runs)


def load_runs(names: Sequence[str]) -> list[NamedRun]:
    """Load runs, by default the newest one; raise `SettingError` if one cannot be read."""
    root = rootdir(Path.cwd())
    runs: list[str | None] = list(names) or [None]
    stored = [stored_run(root, name) for name in runs]
    paths = [results_path(root, name) for name in runs]
    return [NamedRun(str(path), each.results, each.run) for path, each in zip(paths, stored, strict=True)]


def select_metric(runs: JoinedRuns, metric: str | None) -> str:
    """Return the metric of ``--metric``, by default the primary metric of the most cases.

    Raises:
        UnknownNameError: the runs have no such metric.
        SettingError: the runs have no outcome.
    """
    if metric is not None:
        if metric not in runs.metrics:
            raise UnknownNameError("metric", metric, runs.metrics, "--metric")
        return metric
    if not runs.primary:
        raise SettingError("the run has no outcome; run some tests first")
    return runs.primary[0]


def check_facet(runs: JoinedRuns, name: str, option: str, *, of_systems: bool = False) -> None:
    """Raise `UnknownNameError` if no case has the facet; ``of_systems`` also allows the facets of systems."""
    known = {facet for outcome in runs.outcomes for facet in outcome.facets}.difference(OF_SYSTEMS)
    if of_systems:
        known |= {*OF_SYSTEMS}
    if name not in known:
        raise UnknownNameError("facet", name, known, option)


def write_formats(
    arguments: argparse.Namespace, texts: Mapping[str, Callable[[], str]], runs: Sequence[str]
) -> Iterator[str] | None:
    """Write each format whose option is set, and return the lines to print; None if no option is set.

    Args:
        arguments: the parsed arguments.
        texts: format -> function that returns its text.
        runs: the names of the runs; an option with such a value is an error.

    Raises:
        SettingError: a path is a run, or cannot be written.
    """
    targets = {name: path for name in texts if (path := getattr(arguments, name)) is not None}
    if not targets:
        return None
    lines: list[str] = []
    for name, path in targets.items():
        with doing(f"writing {name}"):
            text = texts[name]()
        if path == STDOUT:
            lines += text.rstrip("\n").split("\n")
            continue
        target = Path(path)
        if path in runs or target.name == "results.json" or target.is_dir() or not path.strip():
            raise SettingError(f"--{name} names {short_repr(path)}; put the runs first and name another file")
        try:
            write_text(target, text)
        except OSError as error:
            raise SettingError(f"{path} cannot be written: {error.strerror or error}") from error
        lines.append(ascii_safe(f"written: {path}"))
    return iter(lines)


def table_lines(tables: Iterable[Table]) -> Iterator[str]:
    """Yield tables as lines for the terminal."""
    width, colours = shutil.get_terminal_size().columns, terminal_colours()
    for at, each in enumerate(tables):
        if at:
            yield ""
        head, *columns = each.columns
        lines = [Line(each.title, "bold"), *table(head, columns, width)]
        for line in (*lines, *(part for note in each.notes for part in wrap(note, width))):
            yield paint(line._replace(text=ascii_safe(line.text) if not line.marks else line.text), colours, None)


def json_text(plain: Mapping[str, Any]) -> str:
    """Return builtins, such as dicts and lists, as JSON text."""
    return json.dumps(plain, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
