"""Add Markdown to the step summary of GitHub Actions."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

__all__ = ["MOST", "SUMMARY", "add_to_summary"]

SUMMARY = "GITHUB_STEP_SUMMARY"
"""Environment variable with the path of the current step's file."""

MOST = 1024 * 1024
"""Bytes: GitHub does not show a longer file."""


def add_to_summary(path: Path, texts: Iterable[str]) -> None:
    """Append Markdown to the step's file: the first text that fits.

    Raises:
        OSError: the file cannot be written, or no text fits.
    """
    with path.open("ab") as stream:
        for text in texts:
            added = f"\n\n{text}".encode()  # the file may end within a line
            if stream.tell() + len(added) <= MOST:
                stream.write(added)
                return
    raise OSError(f"it would get longer than the {MOST:,} bytes that GitHub shows")
