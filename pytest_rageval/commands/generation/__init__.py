"""``rageval generate`` and its subcommands, one module each."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_rageval.commands.command_parser import CommandParser, add_subcommands

__all__ = ["SUBCOMMANDS", "add_to", "with_subcommand"]

PLAN = "plan"

SUBCOMMANDS: dict[str, str] = {
    "abilities": "pytest_rageval.commands.generation.abilities",
    PLAN: "pytest_rageval.commands.generation.generate",
    "topics": "pytest_rageval.commands.generation.topics",
}
"""Word after ``generate`` -> its module. Any other word is the path of a plan."""

DESCRIPTION = """\
Generate cases from tables and documents, as a plan says: rageval generate PLAN.toml --out FOLDER. Every draft is
checked by rule; FOLDER gets the datasets, the drafts with the reasons of those that were dropped, and a report.
"""


def add_to(parser: CommandParser) -> None:
    """Add the arguments of ``generate`` with its subcommands."""
    parser.description = DESCRIPTION
    parser.rewrite = with_subcommand
    add_subcommands(parser, SUBCOMMANDS.values(), metavar="PLAN.toml | COMMAND")


def with_subcommand(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with the word ``plan`` before a path: ``generate PLAN.toml`` has no word."""
    has_word = not arguments or arguments[0] in (*SUBCOMMANDS, "-h", "--help")
    return [*arguments] if has_word else [PLAN, *arguments]
