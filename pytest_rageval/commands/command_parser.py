"""The parser of ``rageval`` and of each command: its errors suggest the nearest name."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any, NoReturn

from pytest_rageval.errors import did_you_mean, short_repr

__all__ = ["CANNOT_RUN", "RUN", "USAGE_ERROR", "CommandParser", "add_subcommands"]

CANNOT_RUN = 2
USAGE_ERROR = 4  # pytest's

RUN = "a run under .rageval/runs by its name, the start of its name, latest or latest~1; or the path of a results.json"
"""What a command accepts as a run."""


class CommandParser(argparse.ArgumentParser):
    """A parser that suggests the nearest name for a typing error, and exits with the command's own status.

    Attributes:
        rewrite: changes the arguments before they are parsed.
        elsewhere: option of another command -> a sentence that names it.
    """

    def __init__(self, prog: str | None = None, **options: Any) -> None:
        super().__init__(prog, **{"allow_abbrev": False, **options})
        self.rewrite: Callable[[Sequence[str]], list[str]] = list
        self.elsewhere: Mapping[str, str] = {}

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse the arguments; an unknown one is an error of this parser, not of its parent."""
        found, rest = super().parse_known_args(self.rewrite(sys.argv[1:] if args is None else args), namespace)
        if rest:
            self.error(self._unknown(rest))
        return found, rest

    def error(self, message: str) -> NoReturn:
        """Print the usage and the message, and exit with the status of an invalid use."""
        self.print_usage(sys.stderr)
        self.exit(self.get_default("refused") or CANNOT_RUN, f"{self.prog}: error: {message}\n")

    def _unknown(self, rest: Sequence[str]) -> str:
        option = next((each.partition("=")[0] for each in rest if each.startswith("-") and each != "-"), None)
        if option is None:
            return f"unexpected argument {short_repr(rest[0])}"
        elsewhere = self.elsewhere.get(option)
        hint = f"; {elsewhere}" if elsewhere else _nearest(option, self._option_string_actions)
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
    """Add the subcommands of a command, one of which has to be named.

    Args:
        parser: that of the command.
        modules: the modules of the subcommands; the function ``add_to`` of each adds its parser.
        title: the heading of their list in the help.
        metavar: what stands for them in the usage.
    """
    words = parser.add_subparsers(title=title, metavar=metavar, required=True)
    for module in modules:
        import_module(module).add_to(words)


def _nearest(name: str, known: Iterable[str]) -> str:
    """Return the nearest name as a question, or nothing; the usage lists all."""
    hint = did_you_mean(name, known)
    return f"; {hint}" if hint.startswith("did you mean") else ""
