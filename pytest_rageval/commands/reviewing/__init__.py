"""``rageval review``: people grade a sample of generated cases, on a page or in a sheet."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

__all__ = ["add_to"]

DESCRIPTION = """\
Grade a sample of the cases that rageval generate wrote, one case per screen, on a local page: grades 1 and 2 drop a
case, 3 corrects it, 4 and 5 accept it. Decisions are appended to FOLDER/decisions.jsonl; rageval generate PLAN.toml
--out FOLDER --finish writes the sets from them. Ctrl-C ends the page.
"""


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``review``."""
    parser.description = DESCRIPTION
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the folder of rageval generate")
    parser.add_argument("--reviewer", metavar="NAME", help="your name in the decisions (default: that of your account)")
    parser.add_argument("--cell", metavar="topic=..,task=..", help="review only the cases of this topic and task")
    parser.add_argument(
        "--second", type=float, default=0.0, metavar="SHARE", help="the share of cases that two people see, such as 0.2"
    )
    sheets = parser.add_mutually_exclusive_group()
    sheets.add_argument("--sheet", type=Path, metavar="FILE.csv", help="write the cases to a sheet instead of a page")
    sheets.add_argument("--from", type=Path, dest="filled", metavar="FILE.csv", help="import the decisions of a sheet")
    parser.add_argument(
        "--port", type=int, default=0, metavar="PORT", help="the port of the page (default: a free one)"
    )
    parser.add_argument("--host", default="127.0.0.1", help="the address of the page; another needs --i-know")
    parser.add_argument("--i-know", action="store_true", help="allow other machines to reach the page")
    parser.add_argument("--no-browser", action="store_true", help="print the address and open no browser")
    parser.set_defaults(run_command=_run)


def _run(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.reviewing.review import review

    return review(arguments)
