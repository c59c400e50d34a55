"""The command ``rageval``, for what pytest does not do."""

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
    anchor_arguments,
    compare_arguments,
    import_arguments,
    show_formats,
)
from pytest_rageval.errors import RagEvalError
from pytest_rageval.report.text.fit_text import legible

__all__ = ["main"]

CANNOT_RUN = 2
USAGE_ERROR = 4  # pytest's
INTERRUPTED = 130  # a shell's

CASSETTES = """\
List the files of recordings and how many of each the newest run of the tests used. FOLDER is the one that the ini
names as rag_cassettes, which is not read here; it is the folder "cassettes" of the project if not given.
"""

HISTORY = """\
Tell how a metric went, run by run as .rageval/runs keeps them or, with --baseline, commit by commit of that file: its
value, of how many cases, its 95 % interval and the difference to the line before. By default it is the primary metric
of each testbed, each system apart; runs that were interrupted or narrowed are marked.
"""

INDEX = """\
The index of the retriever that the ini names, over the corpus that it names: `build` makes it ahead of the tests,
for instance before CI starts its workers, `info` lists what is kept in .rageval/indexes, and `prune` removes what of it
the ini does not use; what fixtures of the tests had built is built anew.
"""

LINT = """\
Check datasets before any system answers them: gold answers where they should not be, pools that are empty or too short
for the settings, ids, questions that stand twice, and more. Exit status: 0, or 1 where there are errors.
"""

MERGE = """\
Join the results of all shards of one run (`pytest --rag-shard 1/3`, 2/3, 3/3) to those of the whole, in a new folder
under .rageval/runs: evaluate the gates, and print the summary that pytest would have printed. Exit status, as
pytest's: 0 all held, 1 a gate or a test failed, 2 a shard was interrupted, 4 the results are not those of all shards
of one run.
"""

SHOW = "Print what the summary of a run said, of the newest if none is named: counts, matrices, correlations, gates."


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with the arguments given, else those of the process, and return its exit status.

    It is 0, or 1 where `lint` found errors, or `import` or `anchor` left something, 2 where a command cannot be run,
    and 130 where it was interrupted; that of `merge` is pytest's.
    """
    arguments = _parser().parse_args(argv)
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal may not know all of Unicode
    status = 0
    try:
        status = _write(_paged(arguments) if arguments.pages else arguments.run_command(arguments))
        sys.stdout.flush()
    except BrokenPipeError:  # whoever reads has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return INTERRUPTED
    except RagEvalError as error:
        with suppress(BrokenPipeError):
            sys.stdout.flush()
        sys.stderr.write(f"rageval: {error}\n")
        return int(arguments.refused)
    return status


def _paged(arguments: argparse.Namespace) -> Iterator[str]:
    """Yield the lines of a command that people read, unless a pager has shown them; JSON is for programs."""
    lines: Iterator[str] = arguments.run_command(arguments)
    if getattr(arguments, "json", False):
        return lines
    from pytest_rageval.commands.paging import paged

    return paged(lines)


def _write(lines: Iterator[str]) -> int:
    """Write the lines, and return the status that the generator of them returns, 0 if none."""
    while True:
        try:
            line = next(lines)
        except StopIteration as end:
            return end.value or 0
        sys.stdout.write(f"{legible(line, sys.stdout.encoding)}\n")


def _parser() -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = _Parser(
        "rageval", description="The command beside pytest-rageval.", allow_abbrev=False
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
    show_formats.add_to(show)
    show.set_defaults(run_command=_show, pages=True)
    merge = commands.add_parser(
        "merge", help="join the results of shards, and decide their gates", description=MERGE, allow_abbrev=False
    )
    merge.add_argument("shards", nargs="+", metavar="RESULTS", help="a results.json, a folder with it, or a run's name")
    merge.add_argument("--out", type=Path, metavar="FILE", help="write the joined results.json here too")
    merge.add_argument("--markdown", type=Path, metavar="FILE", help="write the report as Markdown here too")
    merge.set_defaults(run_command=_merge, refused=USAGE_ERROR)
    history = commands.add_parser(
        "history", help="tell how a metric went, by run or by commit", description=HISTORY, allow_abbrev=False
    )
    history.add_argument("--metric", help="this one instead of the primary one of each testbed")
    history.add_argument("--testbed", help="this one alone, by its name or node id")
    history.add_argument("--system", help="this one alone, by its name")
    history.add_argument("--baseline", type=Path, metavar="FILE", help="tell the commits of this baseline")
    history.add_argument("--json", action="store_true", help="as JSON")
    history.set_defaults(run_command=_history, pages=True)
    agreement_arguments.add_to(commands)
    anchor_arguments.add_to(commands)
    compare_arguments.add_to(commands)
    import_arguments.add_to(commands)
    _add_index(commands)
    _add_lint(commands)
    return parser


def _add_index(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
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


def _add_lint(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    lint = commands.add_parser("lint", help="find what is wrong with datasets", description=LINT, allow_abbrev=False)
    lint.add_argument("datasets", nargs="+", metavar="DATASET", help="format:path, as in rag_case")
    for name, wanted, what in (
        ("ability", str, "the pools shall suffice for, instead of those that the passages imply"),
        ("passages", int, "so many that the pools shall suffice for, 5 if not given"),
        ("noise-rate", float, "the share of noise that they shall suffice for"),
        ("correct-rate", float, "the share of correct ones among counterfactual passages"),
        ("assembly", str, "balanced, or rgb-compat, which also looks for answers as RGB does"),
    ):
        lint.add_argument(f"--{name}", type=wanted, metavar=name.upper().replace("-", "_"), help=what)
    lint.add_argument("--corpus", action="append", default=[], help="a line of rag_corpus: what is retrieved")
    lint.add_argument("--strict", action="store_true", help="exit with 1 where there are warnings, too")
    lint.add_argument("--all", action="store_true", help="list all findings of a check, not only the first five")
    lint.add_argument("--json", action="store_true", help="as JSON, with all findings")
    lint.set_defaults(run_command=_lint)


def _cassettes(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.cassettes import cassettes

    return cassettes(arguments.folder, unused=arguments.unused, prune=arguments.prune, run=arguments.run)


def _show(arguments: argparse.Namespace) -> Iterator[str]:
    paths = show_formats.wanted(arguments)
    if paths:
        from pytest_rageval.commands.show_as import show_as

        return show_as(arguments.run, paths)
    from pytest_rageval.commands.show import show

    return show(arguments.run)


def _merge(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.merge import merge

    return merge(arguments.shards, arguments.out, arguments.markdown)


def _history(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.history import history
    from pytest_rageval.report.run.history import HistoryQuery

    wanted = HistoryQuery(arguments.metric, arguments.testbed, arguments.system)
    return history(wanted, arguments.baseline, as_json=arguments.json)


def _index_build(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.index import build

    return build()


def _index_info(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.index import info

    return info(as_json=arguments.json)


def _index_prune(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.index import prune

    return prune()


def _lint(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.lint import lint

    names = ("ability", "passages", "noise_rate", "correct_rate", "assembly")
    settings = {name: getattr(arguments, name) for name in names}
    return lint(
        arguments.datasets,
        settings,
        arguments.corpus,
        strict=arguments.strict,
        as_json=arguments.json,
        show_all=arguments.all,
    )


class _Parser(argparse.ArgumentParser):
    """Ends with the exit status that its command has for what it refuses."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(self.get_default("refused") or CANNOT_RUN, f"{self.prog}: error: {message}\n")


class _Version(argparse.Action):
    """Prints the version, which is looked up only then."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:  # noqa: A002
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        sys.stdout.write(f"rageval {version('pytest-rageval')}\n")
        parser.exit()
