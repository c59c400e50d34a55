"""``rageval judge`` and its subcommands, one module each."""

from __future__ import annotations

import argparse
from importlib import import_module

__all__ = ["SUBCOMMANDS", "add_to"]

SUBCOMMANDS: dict[str, str] = {
    "train": "pytest_rageval.commands.judge.train:add_to",
    "eval": "pytest_rageval.commands.judge.eval:add_to",
    "serve": "pytest_rageval.commands.judge.serve:add_to",
}
"""Subcommand -> ``"module:function"``, which adds its parser."""

DESCRIPTION = "Train a small judge on people's labels, and measure it; rag_judges = METRIC: local:FOLDER uses it."


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``judge`` with its subcommands."""
    parser.description = DESCRIPTION
    words = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for reference in SUBCOMMANDS.values():
        module, _, function = reference.partition(":")
        getattr(import_module(module), function)(words)
