"""What GitHub Actions shows on the page of a run: a file of Markdown that each step may add to."""

from __future__ import annotations

from pathlib import Path

__all__ = ["MOST", "SUMMARY", "add_to_summary"]

SUMMARY = "GITHUB_STEP_SUMMARY"
"""The environment variable that names the file of the present step."""

MOST = 1024 * 1024
"""Bytes: GitHub shows nothing of a longer one."""


def add_to_summary(path: Path, text: str) -> None:
    """Append Markdown to the file of a step.

    Raises:
        OSError: it cannot be written, or would get too long to be shown.
    """
    added = f"\n{text}".encode()
    with path.open("ab") as stream:
        if stream.tell() + len(added) > MOST:
            raise OSError(f"it would get longer than the {MOST:,} bytes that GitHub shows")
        stream.write(added)
