"""The command line ``rageval``: parse arguments, run a command, print its lines."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from typing import NoReturn

from pytest_rageval.commands import (
    agreement_arguments,
    analyze,
    anchor_arguments,
    compare_arguments,
    export,
    generation,
    import_arguments,
    lint,
    reviewing,
)
from pytest_rageval.commands.chains import arguments as chain_arguments
from pytest_rageval.commands.exports import formats
from pytest_rageval.commands.generation import shrink
from pytest_rageval.commands.scoring import arguments as score_arguments
from pytest_rageval.errors import RagEvalError, SettingError, coded
from pytest_rageval.report.text.fit_text import legible

__all__ = ["main"]

CANNOT_RUN = 2
USAGE_ERROR = 4  # pytest's
INTERRUPTED = 130  # a shell's

CASSETTES = """\
List the files of recordings and how many recordings of each the newest run used. FOLDER is the folder of rag_cassettes;
the ini is not read here. Default: the folder "cassettes" of the project.
"""

HISTORY = """\
Show a metric run by run, from .rageval/runs, or commit by commit of a baseline, with --baseline: its value, the number
of cases, its 95 % interval and the difference from the line before. The default is the primary metric of each testbed,
separately for each system. Interrupted and partial runs are marked.
"""

INDEX = """\
Manage the index of the ini's retriever over the ini's corpus. `build` builds it before the tests, for example before CI
starts its workers. `info` lists the indexes in .rageval/indexes. `prune` removes the indexes that the ini does not use;
indexes built by test fixtures are removed too; the next run rebuilds them.
"""

MERGE = """\
Join the results of all shards of one run (`pytest --rag-shard 1/3`, 2/3, 3/3) in a new folder under .rageval/runs:
evaluate the gates, and print the summary that pytest would print for the whole run. Exit status, like pytest's: 0 all
passed, 1 a gate or a test failed, 2 a shard was interrupted, 4 the results are not all shards of one run.
"""

SHOW = "Print the summary of a run, by default the newest: counts, matrices, correlations, gates."


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with ``argv``, or with the arguments of the process, and return its exit status.

    The status is 0; 1 if `lint` found errors, or `import` or `anchor` left something out; 2 if a command cannot run;
    130 if it was interrupted. `merge` returns pytest's exit status.
    """
    words = generation.with_subcommand(sys.argv[1:] if argv is None else argv)
    arguments = _parser().parse_args(agreement_arguments.signed_scale(words))
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal may not support all of Unicode
    status = 0
    try:
        status = _write(_page_lines(arguments) if arguments.pages else arguments.run_command(arguments))
        sys.stdout.flush()
    except BrokenPipeError:  # the reader closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return INTERRUPTED
    except RagEvalError as error:
        with suppress(BrokenPipeError):
            sys.stdout.flush()
        sys.stderr.write(f"rageval: {coded(error)}\n")
        return int(arguments.refused)
    return status


def _page_lines(arguments: argparse.Namespace) -> Iterator[str]:
    """Yield the lines of a command, unless a pager shows them; JSON is never paged."""
    lines: Iterator[str] = arguments.run_command(arguments)
    if getattr(arguments, "json", False):
        return lines
    from pytest_rageval.commands.paging import page_lines

    return page_lines(lines)


def _write(lines: Iterator[str]) -> int:
    """Write the lines, and return the status that their generator returns; 0 if it returns none."""
    while True:
        try:
            line = next(lines)
        except StopIteration as end:
            return end.value or 0
        sys.stdout.write(f"{legible(line, sys.stdout.encoding)}\n")


def _parser() -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = _Parser(
        "rageval", description="The command line of pytest-rageval.", allow_abbrev=False
    )
    parser.set_defaults(refused=CANNOT_RUN, pages=False)
    parser.add_argument("--version", action=_Version, help="print the version and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    cassettes = commands.add_parser(
        "cassettes",
        help="list recorded model calls, and remove those that no test used",
        description=CASSETTES,
        allow_abbrev=False,
    )
    cassettes.add_argument("folder", nargs="?", type=Path, metavar="FOLDER", help="the folder of the recordings")
    cassettes.add_argument("--unused", action="store_true", help="list each recording that the run did not use")
    cassettes.add_argument("--prune", action="store_true", help="remove the recordings that the run did not use")
    cassettes.add_argument(
        "--diff", metavar="CASE", help="show how the calls of this case that the run missed differ from the recordings"
    )
    cassettes.add_argument(
        "--run",
        metavar="RUN",
        help="use this run under .rageval/runs instead of the newest, even if it was partial",
    )
    cassettes.set_defaults(run_command=_cassettes)
    show = commands.add_parser("show", help="print the summary of a run", description=SHOW, allow_abbrev=False)
    show.add_argument("run", nargs="?", metavar="RUN", help="a run under .rageval/runs, or the path of a results.json")
    show.add_argument("--case", metavar="ID", help="print one case, by its id or node id, with the steps of its answer")
    formats.add_to(show)
    show.set_defaults(run_command=_show, pages=True)
    merge = commands.add_parser(
        "merge", help="join the results of shards and evaluate their gates", description=MERGE, allow_abbrev=False
    )
    merge.add_argument("shards", nargs="+", metavar="RESULTS", help="a results.json, a folder with it, or a run's name")
    merge.add_argument("--out", type=Path, metavar="FILE", help="also write the joined results.json to FILE")
    merge.add_argument("--markdown", type=Path, metavar="FILE", help="also write the report as Markdown to FILE")
    merge.set_defaults(run_command=_merge, refused=USAGE_ERROR)
    history = commands.add_parser(
        "history", help="show a metric by run or by commit", description=HISTORY, allow_abbrev=False
    )
    history.add_argument("--metric", help="show this metric instead of the primary one of each testbed")
    history.add_argument("--testbed", help="show only this testbed, by its name or node id")
    history.add_argument("--system", help="show only this system, by its name")
    history.add_argument("--baseline", type=Path, metavar="FILE", help="show the commits of this baseline")
    history.add_argument("--json", action="store_true", help="print JSON")
    history.set_defaults(run_command=_history, pages=True)
    agreement_arguments.add_to(commands)
    analyze.add_to(commands)
    anchor_arguments.add_to(commands)
    chain_arguments.add_to(commands)
    compare_arguments.add_to(commands)
    export.add_to(commands)
    generation.add_to(commands)
    import_arguments.add_to(commands)
    shrink.add_to(commands)
    _add_index(commands)
    lint.add_to(commands)
    reviewing.add_to(commands)
    score_arguments.add_to(commands)
    return parser


def _add_index(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    index = commands.add_parser(
        "index",
        help="build the retriever's index, list indexes, remove unused ones",
        description=INDEX,
        allow_abbrev=False,
    )
    words = index.add_subparsers(title="commands", metavar="COMMAND", required=True)
    build = words.add_parser("build", help="build the index if it is missing", allow_abbrev=False)
    build.set_defaults(run_command=_index_build)
    info = words.add_parser("info", help="list the indexes and mark those that the ini uses", allow_abbrev=False)
    info.add_argument("--json", action="store_true", help="print JSON")
    info.set_defaults(run_command=_index_info)
    prune = words.add_parser("prune", help="remove the indexes that the ini does not use", allow_abbrev=False)
    prune.set_defaults(run_command=_index_prune)


def _cassettes(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.cassettes import cassettes, missed

    if arguments.diff is not None:
        return missed(arguments.diff, arguments.run)
    return cassettes(arguments.folder, unused=arguments.unused, prune=arguments.prune, run=arguments.run)


def _show(arguments: argparse.Namespace) -> Iterator[str]:
    paths = formats.targets(arguments)
    if arguments.case is not None:
        if paths:
            raise SettingError("--case prints one case; leave out the formats")
        from pytest_rageval.commands.show_case import show_case

        return show_case(arguments.run, arguments.case)
    if paths:
        from pytest_rageval.commands.exports.show_as import show_as

        return show_as(arguments.run, paths)
    from pytest_rageval.commands.show import show

    return show(arguments.run)


def _merge(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.merge import merge

    return merge(arguments.shards, arguments.out, arguments.markdown)


def _history(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.history import history
    from pytest_rageval.report.run.history import HistoryQuery

    selection = HistoryQuery(arguments.metric, arguments.testbed, arguments.system)
    return history(selection, arguments.baseline, as_json=arguments.json)


def _index_build(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.index import build

    return build()


def _index_info(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.index import info

    return info(as_json=arguments.json)


def _index_prune(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.index import prune

    return prune()


class _Parser(argparse.ArgumentParser):
    """Exits with the command's own status for invalid arguments."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(self.get_default("refused") or CANNOT_RUN, f"{self.prog}: error: {message}\n")


class _Version(argparse.Action):
    """Prints the version; looks it up only then, because the import is slow."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:  # noqa: A002
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        sys.stdout.write(f"rageval {version('pytest-rageval')}\n")
        parser.exit()
