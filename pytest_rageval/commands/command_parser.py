"""Parse the arguments of ``rageval`` and its commands; errors suggest the nearest name."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any, NoReturn

from pytest_rageval.errors import did_you_mean, short_repr

__all__ = ["CANNOT_RUN", "RUN", "USAGE_ERROR", "CommandParser", "add_subcommands"]

CANNOT_RUN = 2
"""Exit status of a command that cannot run."""

USAGE_ERROR = 4
"""Exit status of commands that return those of pytest, if they cannot run."""

RUN = "a run under .rageval/runs by its name, the start of its name, latest or latest~1; or the path of a results.json"
"""The help of an argument that names a run."""


class CommandParser(argparse.ArgumentParser):
    """A parser that suggests the nearest name for a misspelled one, and exits with the status of its command.

    Attributes:
        rewrite: the function that changes the arguments before they are parsed.
        option_hints: option that this command does not have -> what to write instead.
    """

    def __init__(self, prog: str | None = None, **options: Any) -> None:
        super().__init__(prog, **{"allow_abbrev": False, **options})
        self.rewrite: Callable[[Sequence[str]], list[str]] = list
        self.option_hints: Mapping[str, str] = {}

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse the arguments; report an unknown one here, because the parent's usage does not help."""
        parsed, unknown = super().parse_known_args(self.rewrite(sys.argv[1:] if args is None else args), namespace)
        if unknown:
            self.error(self._unknown_text(unknown))
        return parsed, unknown

    def error(self, message: str) -> NoReturn:
        """Print the usage and the message, and exit with the command's status for errors."""
        self.print_usage(sys.stderr)
        self.exit(self.get_default("error_status") or CANNOT_RUN, f"{self.prog}: error: {message}\n")

    def _unknown_text(self, arguments: Sequence[str]) -> str:
        """Return the message for unknown arguments; it names the first option, or else the first argument."""
        option = next((each.partition("=")[0] for each in arguments if each.startswith("-") and each != "-"), None)
        if option is None:
            return f"unexpected argument {short_repr(arguments[0])}"
        advice = self.option_hints.get(option)
        hint = f"; {advice}" if advice else _nearest(option, self._option_string_actions)
        return f"unknown option {short_repr(option)}{hint}"

    def _check_value(self, action: argparse.Action, value: object) -> None:
        if action.choices is not None and value not in action.choices:
            is_command = isinstance(action, argparse._SubParsersAction)
            kind = "command" if is_command else f"value of {(*action.option_strings, action.metavar or action.dest)[0]}"
            hint = did_you_mean(str(value), map(str, action.choices))
            raise argparse.ArgumentError(None, f"unknown {kind} {short_repr(value)}; {hint}")


def add_subcommands(
    parser: argparse.ArgumentParser, modules: Iterable[str], *, title: str = "commands", metavar: str = "COMMAND"
) -> None:
    """Add the subcommands of a command; the user must name one.

    Args:
        parser: the parser of the command.
        modules: the modules of the subcommands; each has a function ``add_to`` that adds its parser.
        title: the heading above the list of subcommands in the help.
        metavar: the word for a subcommand in the usage, such as "ANALYSIS".
    """
    subparsers = parser.add_subparsers(title=title, metavar=metavar, required=True)
    for module in modules:
        import_module(module).add_to(subparsers)


def _nearest(name: str, known: Iterable[str]) -> str:
    """Return "did you mean ...?" for a near name, else ""; the usage lists all names."""
    hint = did_you_mean(name, known)
    return f"; {hint}" if hint.startswith("did you mean") else ""
