"""Show the lines of a command in a pager if they are long; count the terminal's colours."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from pytest_rageval.activity import hide
from pytest_rageval.report.text.colours import colours_of
from pytest_rageval.report.text.fit_text import legible

__all__ = ["page_lines", "terminal_colours"]

LESS = "FX"
"""Default options of ``less``, in addition to R, which shows colours.

F prints a text directly if it fits the screen; X leaves the text on the screen at the end.
"""


def terminal_colours() -> int:
    """Return the number of colours of standard output; 0 if it is not a colour terminal."""
    dumb = os.environ.get("TERM", "dumb") == "dumb" and "WT_SESSION" not in os.environ
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR") or dumb:
        return 0
    return colours_of(os.environ)


def page_lines(lines: Iterator[str]) -> Iterator[str]:
    """Show lines in a pager if they do not fit the terminal; else yield them."""
    if not (sys.stdout.isatty() and sys.stdin.isatty()):
        yield from lines
        return
    rows = [legible(line, sys.stdout.encoding) for line in lines]
    if len(rows) < shutil.get_terminal_size().lines or not _page("\n".join(rows) + "\n"):
        yield from rows


def _page(text: str) -> bool:
    """Show the text in the pager of the variable ``PAGER``, run by the shell, and return whether that worked.

    An empty ``PAGER`` means no pager.
    """
    pager = os.environ.get("PAGER", "less" if shutil.which("less") else "")
    if not pager.strip():
        return False
    env = {**os.environ, "LESS": f"-R {os.environ.get('LESS', LESS)}"}
    hide()
    encoded = text.encode(sys.stdout.encoding or "utf-8", "backslashreplace")
    try:
        with _leave_interrupts_to_pager():
            status = subprocess.run(pager, input=encoded, env=env, shell=True, check=False).returncode  # noqa: S602
    except OSError:
        return False
    return status in (0, -signal.SIGINT, 128 + signal.SIGINT)


@contextmanager
def _leave_interrupts_to_pager() -> Iterator[None]:
    """Do nothing on Ctrl-C, because the pager receives it too.

    A handler does nothing here instead of ``SIG_IGN``: a pager would inherit an ignored signal.
    """
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
