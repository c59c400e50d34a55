"""What GitHub Actions shows on the page of a run: a file of Markdown that each step may add to."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

__all__ = ["MOST", "SUMMARY", "add_to_summary"]

SUMMARY = "GITHUB_STEP_SUMMARY"
"""The environment variable that names the file of the present step."""

MOST = 1024 * 1024
"""Bytes: GitHub shows nothing of a longer one."""


def add_to_summary(path: Path, texts: Iterable[str]) -> None:
    """Append Markdown to the file of a step: the first text that does not make it too long to be shown.

    Raises:
        OSError: it cannot be written, or would get too long to be shown.
    """
    with path.open("ab") as stream:
        for text in texts:
            added = f"\n\n{text}".encode()  # what is there may end within a line
            if stream.tell() + len(added) <= MOST:
                stream.write(added)
                return
    raise OSError(f"it would get longer than the {MOST:,} bytes that GitHub shows")
