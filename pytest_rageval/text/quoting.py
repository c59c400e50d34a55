"""Quote data in prompts line by line, so none of it looks like a part of the prompt."""

from __future__ import annotations

__all__ = ["quoted"]


def quoted(text: str) -> str:
    """Return a text with "> " before every line."""
    whole = text.encode("utf-8", "backslashreplace").decode()  # UTF-8 cannot encode half of a surrogate pair
    return "\n".join(f"> {line}".rstrip() for line in whole.strip().splitlines())
