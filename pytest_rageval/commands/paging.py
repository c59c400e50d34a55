"""What a command prints on a terminal: in colour, and page by page where it is long."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from pytest_rageval.report.text.colours import colours_of
from pytest_rageval.report.text.fit_text import legible

__all__ = ["paged", "terminal_colours"]

LESS = "FX"
"""How less is called unless the environment says so: what fits in a page is just printed. Colours always pass."""


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
    """Return whether a pager has shown the text: the shell runs what ``PAGER`` says, where an empty one is none."""
    pager = os.environ.get("PAGER", "less" if shutil.which("less") else "")
    if not pager.strip():
        return False
    env = {**os.environ, "LESS": f"-R {os.environ.get('LESS', LESS)}"}
    encoded = text.encode(sys.stdout.encoding or "utf-8", "backslashreplace")
    try:
        with _interrupts_left_to_it():
            status = subprocess.run(pager, input=encoded, env=env, shell=True, check=False).returncode  # noqa: S602
    except OSError:
        return False
    return status in (0, -signal.SIGINT, 128 + signal.SIGINT)


@contextmanager
def _interrupts_left_to_it() -> Iterator[None]:
    """Do nothing on Ctrl-C, which the pager gets too; were it ignored here, some pagers would never hear of it."""
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
