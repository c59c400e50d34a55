"""The error code at the end of a message's first line."""

from __future__ import annotations

import re

__all__ = ["without_code"]


def without_code(message: str) -> str:
    """Return a message without the code at the end of its first line; fail if there is none."""
    text, count_removed = re.subn(r" \[RAG\d{3}\](?=\n|$)", "", message, count=1)
    assert count_removed, f"no code in {message!r}"
    return text
