"""Quote data in prompts line by line, to separate it from the text of the prompt."""

from __future__ import annotations

__all__ = ["quote_lines"]


def quote_lines(text: str) -> str:
    """Return a text with "> " before every line."""
    valid = text.encode("utf-8", "backslashreplace").decode()  # UTF-8 cannot encode half of a surrogate pair
    return "\n".join(f"> {line}".rstrip() for line in valid.strip().splitlines())
