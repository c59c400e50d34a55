"""``rageval analyze``: the analyses of runs, one module each."""

from __future__ import annotations

import argparse

from pytest_rageval.commands.command_parser import add_subcommands

__all__ = ["ANALYSES", "add_to"]

ANALYSES: dict[str, str] = {
    "deployment": "pytest_rageval.commands.analyses.deployment",
    "errors": "pytest_rageval.commands.analyses.errors",
    "leaderboard": "pytest_rageval.commands.analyses.leaderboard",
    "matching": "pytest_rageval.commands.analyses.matching",
    "preferences": "pytest_rageval.commands.analyses.preferences",
}
"""Subcommand -> its module."""

DESCRIPTION = "Analyze runs: why answers are wrong, which system suits which task, and what it costs."


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``analyze`` with its subcommands."""
    parser.description = DESCRIPTION
    add_subcommands(parser, ANALYSES.values(), title="analyses", metavar="ANALYSIS")
