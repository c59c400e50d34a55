"""What a command prints on a terminal: in colour, and page by page where it is long."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator

from pytest_rageval.report.colours import colours_of
from pytest_rageval.report.legible import legible

__all__ = ["paged", "terminal_colours"]

LESS = "FRX"
"""How less is called unless the environment says so: colours pass, and what fits in a page is just printed."""


def terminal_colours() -> int:
    """Return how many colours what is printed may have: none unless it goes to a terminal that has some."""
    dumb = os.environ.get("TERM", "dumb") == "dumb" and "WT_SESSION" not in os.environ
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR") or dumb:
        return 0
    return colours_of(os.environ)


def paged(lines: Iterator[str]) -> Iterator[str]:
    """Show lines page by page on a terminal that they are too long for, else yield them to be printed."""
    if not (sys.stdout.isatty() and sys.stdin.isatty()):
        yield from lines
        return
    shown = [legible(line, sys.stdout.encoding) for line in lines]
    if len(shown) < shutil.get_terminal_size().lines or not _page("\n".join(shown) + "\n"):
        yield from shown


def _page(text: str) -> bool:
    """Return whether a pager has shown the text."""
    pager = shlex.split(os.environ.get("PAGER", "")) or ["less"]
    program = shutil.which(pager[0])
    if program is None:
        return False
    env = {"LESS": LESS, **os.environ}
    encoded = text.encode(sys.stdout.encoding or "utf-8", "backslashreplace")
    try:
        return subprocess.run([program, *pager[1:]], input=encoded, env=env, check=False).returncode == 0  # noqa: S603
    except OSError:
        return False
