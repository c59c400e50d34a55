"""``rageval analyze``: analyses of a stored run, one module each."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

__all__ = ["ANALYSES", "add_to"]

ANALYSES: dict[str, str] = {
    "errors": "pytest_rageval.commands.analyze.errors:add_to",
}
"""Analysis -> ``"module:function"``; the function adds the parser of the analysis, and imports nothing heavy."""

DESCRIPTION = "Analyze stored runs. Each analysis has its own options: `rageval analyze errors --help`."


def add_to(commands: Commands) -> None:
    """Add the command ``analyze`` with its analyses."""
    analyze = commands.add_parser(
        "analyze", help="find out why answers are wrong", description=DESCRIPTION, allow_abbrev=False
    )
    analyses = analyze.add_subparsers(title="analyses", metavar="ANALYSIS", required=True)
    for reference in ANALYSES.values():
        module, _, function = reference.partition(":")
        getattr(import_module(module), function)(analyses)
