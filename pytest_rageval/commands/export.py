"""``rageval export``: write parts of a run as files of their own."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from importlib import import_module

__all__ = ["EXPORTS", "add_to"]

DESCRIPTION = "Write parts of a run under .rageval/runs, or of a results.json, as files of their own."

EXPORTS: Mapping[str, str] = {"traces": "pytest_rageval.commands.exports.traces:add_to"}
"""What can be exported -> the function that adds its subcommand."""


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``export`` with its subcommands."""
    parser.description = DESCRIPTION
    exports = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for target in EXPORTS.values():
        module, _, function = target.partition(":")
        getattr(import_module(module), function)(exports)
