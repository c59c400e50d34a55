"""``rageval completion``: shell completion of commands, options, runs and formats."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from pytest_rageval.errors import MissingDependencyError

__all__ = ["add_to", "complete"]

DESCRIPTION = """\
Print the script that makes a shell complete the commands, options, runs and formats of rageval (extra completion). bash
and zsh read it with eval "$(rageval completion bash)", best in ~/.bashrc or ~/.zshrc; fish with rageval completion fish
| source.
"""

SHELLS = ("bash", "zsh", "fish")

OF_RUNS = ("RUN", "RESULTS", "BASE", "NEW")
"""Metavars of the arguments that take a run."""


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``completion``."""
    parser.description = DESCRIPTION
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help="bash, zsh or fish")
    parser.set_defaults(run_command=_run)


def _run(arguments: argparse.Namespace) -> Iterator[str]:
    try:
        from argcomplete.shell_integration import shellcode
    except ImportError:
        raise MissingDependencyError("shell completion", "completion") from None
    yield shellcode(["rageval"], shell=arguments.shell).rstrip("\n")


def complete(parser: argparse.ArgumentParser) -> None:
    """Print the completions of the command line in the shell's environment variables, and end the process."""
    try:
        from argcomplete import autocomplete
    except ImportError:  # the shell still runs the script of an earlier installation
        os._exit(1)
    for action in _actions(parser):
        if action.metavar in OF_RUNS:
            action.completer = _run_names  # type: ignore[attr-defined]
    autocomplete(parser)


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from _actions(below)


def _run_names(**_: object) -> Iterable[str]:
    """Return the names of the project's runs; the shell completes paths if no name matches."""
    from pytest_rageval.commands.runs import rootdir, runs_of
    from pytest_rageval.report.files.run_names import LATEST, stored_runs

    names = [folder.name for folder in stored_runs(runs_of(rootdir(Path.cwd())))]
    return [LATEST, *names] if names else []
