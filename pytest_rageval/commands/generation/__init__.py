"""``rageval generate`` and its subcommands, one module each."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from pytest_rageval.commands.command_parser import CommandParser

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


def add_to(parser: CommandParser) -> None:
    """Add the arguments of ``generate`` with its subcommands."""
    parser.description = DESCRIPTION
    parser.rewrite = with_subcommand
    words = parser.add_subparsers(title="commands", metavar="PLAN.toml | COMMAND", required=True)
    for reference in SUBCOMMANDS.values():
        module, _, function = reference.partition(":")
        getattr(import_module(module), function)(words)


def with_subcommand(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with the word ``plan`` before a path: ``generate PLAN.toml`` has no word."""
    has_word = not arguments or arguments[0] in (*SUBCOMMANDS, "-h", "--help")
    return [*arguments] if has_word else [PLAN, *arguments]
