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
"""Subcommand of ``generate`` -> its module. Any other word is the path of a plan."""

DESCRIPTION = """\
Generate cases from tables and documents by a plan: rageval generate PLAN.toml --out FOLDER. Rules check every draft.
FOLDER gets the datasets, the drafts, the reason of each dropped draft, and a report.
"""


def add_to(parser: CommandParser) -> None:
    """Add the subcommands of ``generate``."""
    parser.description = DESCRIPTION
    parser.rewrite = with_subcommand
    add_subcommands(parser, SUBCOMMANDS.values(), metavar="PLAN.toml | COMMAND")


def with_subcommand(arguments: Sequence[str]) -> list[str]:
    """Return the arguments; insert the subcommand ``plan`` if they begin with a path, as in ``generate PLAN.toml``."""
    has_subcommand = not arguments or arguments[0] in (*SUBCOMMANDS, "-h", "--help")
    return [*arguments] if has_subcommand else [PLAN, *arguments]
