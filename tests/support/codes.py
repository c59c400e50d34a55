"""The code that ends a message."""

from __future__ import annotations

import re

__all__ = ["without_code"]


def without_code(message: str) -> str:
    """Return the first line of a message without its code, which it has to have."""
    text, found = re.subn(r" \[RAG\d{3}\](?=\n|$)", "", message, count=1)
    assert found, f"no code in {message!r}"
    return text
