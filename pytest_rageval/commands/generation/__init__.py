"""``rageval generate`` and its subcommands, one module each."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

__all__ = ["SUBCOMMANDS", "add_to", "with_subcommand"]

PLAN = "plan"

SUBCOMMANDS: dict[str, str] = {
    "abilities": "pytest_rageval.commands.generation.abilities:add_to",
    PLAN: "pytest_rageval.commands.generation.generate:add_to",
    "topics": "pytest_rageval.commands.generation.topics:add_to",
}
"""Word after ``generate`` -> ``"module:function"``, which adds its parser. Any other word is the path of a plan."""

DESCRIPTION = """\
Generate cases from tables and documents, as a plan says: rageval generate PLAN.toml --out FOLDER. Every draft is
checked by rule; FOLDER gets the datasets, the drafts with the reasons of those that were dropped, and a report.
"""


def add_to(commands: Commands) -> None:
    """Add the command ``generate`` with its subcommands."""
    parser = commands.add_parser(
        "generate", help="generate cases from tables and documents", description=DESCRIPTION, allow_abbrev=False
    )
    words = parser.add_subparsers(title="commands", metavar="PLAN.toml | COMMAND", required=True)
    for reference in SUBCOMMANDS.values():
        module, _, function = reference.partition(":")
        getattr(import_module(module), function)(words)


def with_subcommand(arguments: Sequence[str]) -> list[str]:
    """Return the arguments of `rageval` with the word ``plan`` before a path: ``generate PLAN.toml`` has no word."""
    head, rest = list(arguments[:1]), list(arguments[1:])
    has_word = not rest or rest[0] in (*SUBCOMMANDS, "-h", "--help")
    return [*head, *rest] if head != ["generate"] or has_word else [*head, PLAN, *rest]
