"""The command ``rageval``, for what pytest does not do."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from io import TextIOWrapper
from pathlib import Path

from pytest_rageval.errors import RagEvalError

__all__ = ["main"]

CASSETTES = """\
List the files of recordings and how many of each the newest run of the tests used. FOLDER is the one that the ini
names as rag_cassettes, which is not read here; it is the folder "cassettes" of the project if not given.
"""

IMPORT = """\
Take files of other tools: FORMAT is omnieval-predictions (<level 1> - <level 2> - <task>.pred.jsonl), omnieval-results
(evaluation_result_*.jsonl), omnieval-replies (id, metric, reply), rgb-predictions (prediction_*.json), ragas, deepeval
(JSON, JSON Lines, CSV, .xlsx) or table (the same, of questions and answers, by the names of its columns). Cases go to
FILE (cases.jsonl), what a system answered beside them (cases.answers.jsonl), for `pytest --rag-answers`; values that
OmniEval computed go to FILE (scores.jsonl). What was left is listed, by file and line. Exit status: 0 all rows were
taken, 1 some were left, 2 nothing was written.
"""

INDEX = """\
The index of the retriever that the ini names, over the corpus that it names: `build` makes it ahead of the tests,
for instance before CI starts its workers, `info` lists what is kept in .rageval/indexes, and `prune` removes what of it
the ini does not use; what fixtures of the tests had built is built anew.
"""

SHOW = "Print what the summary of a run said, of the newest if none is named: counts, matrices, correlations, gates."


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with the arguments given, else those of the process, and return its exit status: 0, 1 or 2."""
    arguments = _parser().parse_args(argv)
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal may not know all of Unicode
    try:
        status = _run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever reads has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return status


def _run(arguments: argparse.Namespace) -> int:
    """Print the lines of a command, and the error that ended it, and return the exit status."""
    try:
        for line in arguments.run_command(arguments):
            sys.stdout.write(f"{line}\n")
    except RagEvalError as error:
        sys.stdout.flush()
        sys.stderr.write(f"rageval: {error}\n")
        return error.status
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("rageval", description="The command beside pytest-rageval.", allow_abbrev=False)
    parser.add_argument("--version", action=_Version, help="print the version and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    cassettes = commands.add_parser(
        "cassettes",
        help="list recorded model calls, and remove those that no test used",
        description=CASSETTES,
        allow_abbrev=False,
    )
    cassettes.add_argument("folder", nargs="?", type=Path, metavar="FOLDER", help="of the recordings")
    cassettes.add_argument("--unused", action="store_true", help="list each recording that the run did not use")
    cassettes.add_argument("--prune", action="store_true", help="remove the recordings that the run did not use")
    cassettes.add_argument(
        "--run",
        metavar="RUN",
        help="a run under .rageval/runs to go by instead of the newest, also when it was partial",
    )
    cassettes.set_defaults(run_command=_cassettes)
    show = commands.add_parser("show", help="print what a run's summary said", description=SHOW, allow_abbrev=False)
    show.add_argument("run", nargs="?", metavar="RUN", help="a run under .rageval/runs, or the path of a results.json")
    show.set_defaults(run_command=_show)
    imports = commands.add_parser(
        "import", help="take other tools' datasets and answers", description=IMPORT, allow_abbrev=False
    )
    imports.add_argument("format", metavar="FORMAT", help="what the files are")
    imports.add_argument("sources", nargs="+", type=Path, metavar="SOURCE", help="a file, or a folder of predictions")
    imports.add_argument("--out", type=Path, metavar="FILE", help="the file to write")
    imports.add_argument("--system", default="", metavar="NAME", help="the system that gave the answers or was judged")
    imports.add_argument(
        "--cases", type=Path, metavar="FILE", help="the dataset that omnieval-results are of, in order"
    )
    imports.add_argument("--force", action="store_true", help="write over files that are there")
    imports.set_defaults(run_command=_import)
    index = commands.add_parser(
        "index",
        help="build the retriever's index, list what is kept, remove the unused",
        description=INDEX,
        allow_abbrev=False,
    )
    words = index.add_subparsers(title="commands", metavar="COMMAND", required=True)
    build = words.add_parser("build", help="build it where it is not there yet", allow_abbrev=False)
    build.set_defaults(run_command=_index_build)
    info = words.add_parser("info", help="list the indexes, and say which one the ini uses", allow_abbrev=False)
    info.add_argument("--json", action="store_true", help="as JSON")
    info.set_defaults(run_command=_index_info)
    prune = words.add_parser("prune", help="remove the indexes that the ini does not use", allow_abbrev=False)
    prune.set_defaults(run_command=_index_prune)
    return parser


def _cassettes(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.cassettes import cassettes

    return cassettes(arguments.folder, unused=arguments.unused, prune=arguments.prune, run=arguments.run)


def _show(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.show import show

    return show(arguments.run)


def _import(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.imports import import_files
    from pytest_rageval.datasets.imports import Order

    order = Order(tuple(arguments.sources), arguments.system, arguments.cases)
    return import_files(arguments.format, order, arguments.out, force=arguments.force)


def _index_build(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.index import build

    return build()


def _index_info(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.index import info

    return info(as_json=arguments.json)


def _index_prune(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.index import prune

    return prune()


class _Version(argparse.Action):
    """Prints the version, which is looked up only then."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:  # noqa: A002
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        sys.stdout.write(f"rageval {version('pytest-rageval')}\n")
        parser.exit()
