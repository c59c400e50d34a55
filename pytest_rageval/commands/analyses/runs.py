"""Load the runs of an analysis, and print it or write it to a file."""

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

__all__ = ["add_formats", "as_json", "chosen_metric", "facet_known", "joined", "loaded", "outputs", "table_text"]


def add_formats(parser: argparse.ArgumentParser, formats: Mapping[str, str]) -> None:
    """Add the runs and one option for each format; without a path or with ``-`` it prints."""
    parser.add_argument("runs", nargs="*", metavar="RUN", help=f"{RUN} (default: the newest)")
    for name, what in formats.items():
        parser.add_argument(f"--{name}", nargs="?", const=STDOUT, metavar="PATH", help=f"{what}; - prints it")


def joined(names: Sequence[str]) -> JoinedRuns:
    """Return the joined runs, by default the newest one.

    Raises:
        SettingError: a run cannot be read, or the runs do not fit together.
    """
    runs = loaded(names)
    with doing("joining the runs"):
        return join_runs(runs)


def loaded(names: Sequence[str]) -> list[NamedRun]:
    """Return the loaded runs, by default the newest one; raise `SettingError` if one cannot be read."""
    root = rootdir(Path.cwd())
    chosen: list[str | None] = list(names) or [None]
    stored = [stored_run(root, name) for name in chosen]
    paths = [results_path(root, name) for name in chosen]
    return [NamedRun(str(path), each.results, each.run) for path, each in zip(paths, stored, strict=True)]


def chosen_metric(runs: JoinedRuns, metric: str | None) -> str:
    """Return the metric of ``--metric``, by default the primary one of the most cases; raise if it is unknown."""
    if metric is not None:
        if metric not in runs.metrics:
            raise UnknownNameError("metric", metric, runs.metrics, "--metric")
        return metric
    if not runs.primary:
        raise SettingError("the run has no outcome; run some tests first")
    return runs.primary[0]


def facet_known(runs: JoinedRuns, name: str, option: str, *, of_systems: bool = False) -> None:
    """Raise `UnknownNameError` unless some case has the facet; ``of_systems`` allows those of systems, too."""
    known = {facet for outcome in runs.outcomes for facet in outcome.facets}.difference(OF_SYSTEMS)
    if of_systems:
        known |= {*OF_SYSTEMS}
    if name not in known:
        raise UnknownNameError("facet", name, known, option)


def outputs(
    arguments: argparse.Namespace, texts: Mapping[str, Callable[[], str]], runs: Sequence[str]
) -> Iterator[str] | None:
    """Write or return the chosen formats; None if none is chosen.

    Args:
        arguments: the parsed arguments.
        texts: format -> function that returns its text.
        runs: the names of the runs, which no path may be.

    Raises:
        SettingError: a path is a run, or cannot be written.
    """
    chosen = {name: path for name in texts if (path := getattr(arguments, name)) is not None}
    if not chosen:
        return None
    lines: list[str] = []
    for name, path in chosen.items():
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


def table_text(tables: Iterable[Table]) -> Iterator[str]:
    """Yield tables as lines for the terminal."""
    width, colours = shutil.get_terminal_size().columns, terminal_colours()
    for at, each in enumerate(tables):
        if at:
            yield ""
        head, *columns = each.columns
        lines = [Line(each.title, "bold"), *table(head, columns, width)]
        for line in (*lines, *(part for note in each.notes for part in wrap(note, width))):
            yield paint(line._replace(text=ascii_safe(line.text) if not line.marks else line.text), colours, None)


def as_json(plain: Mapping[str, Any]) -> str:
    """Return builtins as JSON."""
    return json.dumps(plain, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
