"""``rageval judge`` and its subcommands, one module each."""

from __future__ import annotations

import argparse

from pytest_rageval.commands.command_parser import add_subcommands

__all__ = ["SUBCOMMANDS", "add_to"]

SUBCOMMANDS: dict[str, str] = {
    "train": "pytest_rageval.commands.judge.train",
    "eval": "pytest_rageval.commands.judge.eval",
    "serve": "pytest_rageval.commands.judge.serve",
}
"""Subcommand -> its module."""

DESCRIPTION = (
    "Train a small judge on people's labels, and measure it. To use it, write rag_judges = METRIC: local:FOLDER."
)


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``judge`` with its subcommands."""
    parser.description = DESCRIPTION
    add_subcommands(parser, SUBCOMMANDS.values())
