"""``rageval analyze``: the analyses of runs, one module each."""

from __future__ import annotations

import argparse
from importlib import import_module

__all__ = ["ANALYSES", "add_to"]

ANALYSES: dict[str, str] = {
    "deployment": "pytest_rageval.commands.analyses.deployment:add_to",
    "errors": "pytest_rageval.commands.analyses.errors:add_to",
    "leaderboard": "pytest_rageval.commands.analyses.leaderboard:add_to",
    "matching": "pytest_rageval.commands.analyses.matching:add_to",
    "preferences": "pytest_rageval.commands.analyses.preferences:add_to",
}
"""Subcommand -> ``"module:function"``, which adds its parser."""

DESCRIPTION = "Analyze runs: why answers are wrong, which system suits which task, and what it costs."


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``analyze`` with its subcommands."""
    parser.description = DESCRIPTION
    words = parser.add_subparsers(title="analyses", metavar="ANALYSIS", required=True)
    for reference in ANALYSES.values():
        module, _, function = reference.partition(":")
        getattr(import_module(module), function)(words)
