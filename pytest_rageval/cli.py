"""The command line ``rageval``: parse arguments, run a command, print its lines."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from io import TextIOWrapper

from pytest_rageval import activity
from pytest_rageval.commands.command_parser import CANNOT_RUN, CommandParser
from pytest_rageval.commands.command_table import COMMANDS, overview
from pytest_rageval.errors import RagEvalError, message_with_code
from pytest_rageval.report.text.fit_text import legible

__all__ = ["NAMES", "main", "parser"]

INTERRUPTED = 130  # as shells report a process that Ctrl-C ended

NAMES = tuple(name for commands in COMMANDS.values() for name in commands)
"""The names of all commands."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with ``argv``, or with the arguments of the process, and return its exit status.

    The status is 0; 1 if `lint` found errors, or `import` or `anchor` left something out; 2 if a command cannot run;
    130 if Ctrl-C ended it. `merge` returns pytest's exit status.
    """
    if "_ARGCOMPLETE" in os.environ:
        from pytest_rageval.commands.completion import complete

        complete(parser(os.environ.get("COMP_LINE", "").split()[1:2]))
    words = sys.argv[1:] if argv is None else argv
    top = parser(words[:1])
    arguments = top.parse_args(words)
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal may not support all of Unicode
    if arguments.command is None:
        top.print_help()
        return 0
    status = 0
    try:
        with activity.show_activity(sys.stderr):
            status = _write(_page_lines(arguments) if arguments.pages else arguments.run_command(arguments))
            sys.stdout.flush()
    except BrokenPipeError:  # the reader closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        sys.stderr.write("rageval: interrupted\n")
        return INTERRUPTED
    except RagEvalError as error:
        with suppress(BrokenPipeError):
            sys.stdout.flush()
        sys.stderr.write(f"rageval: {message_with_code(error)}\n")
        return int(arguments.error_status)
    return status


def _page_lines(arguments: argparse.Namespace) -> Iterator[str]:
    """Run a command; yield its lines if no pager shows them. JSON is never paged."""
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
        activity.hide()
        sys.stdout.write(f"{legible(line, sys.stdout.encoding)}\n")


def parser(loaded: Collection[str] = NAMES) -> CommandParser:
    """Return the parser of ``rageval``; import the modules of the ``loaded`` commands only, for their arguments."""
    top = CommandParser("rageval", description="RAG regression testing: what pytest does not do.")
    top.format_help = lambda: "\n".join(_help_lines(top))  # type: ignore[method-assign]
    top.set_defaults(error_status=CANNOT_RUN, pages=False)
    top.add_argument("--version", action=_Version, help="print the version and exit")
    subparsers = top.add_subparsers(title="commands", metavar="COMMAND", dest="command")
    for commands in COMMANDS.values():
        for name, command in commands.items():
            subparser = subparsers.add_parser(name, help=command.about)
            if name in loaded:
                import_module(f"pytest_rageval.commands.{command.module}").add_to(subparser)
    return top


def _help_lines(top: CommandParser) -> Iterator[str]:
    yield from (top.description or "", "", "usage: rageval COMMAND ...", "")
    yield from overview()
    yield from ("rageval COMMAND --help lists its arguments, rageval --version the version.", "")


class _Version(argparse.Action):
    """Prints the version. It is read only here, because the import for it is slow."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:  # noqa: A002
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from pytest_rageval.versions import installed_version

        sys.stdout.write(f"rageval {installed_version('pytest-rageval')}\n")
        parser.exit()
