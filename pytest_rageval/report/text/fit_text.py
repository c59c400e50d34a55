"""Fit text to a terminal: its width and its encoding."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["SPARKS", "cut", "legible", "sparkline"]

SPARKS = "▁▂▃▄▅▆▇█"
"""The levels of a sparkline, lowest first."""

_PLAIN = str.maketrans(f"–·×…{SPARKS}", "--x._.:~=+*#")
"""ASCII replacements of the characters that this package prints, for encodings that lack them."""


def legible(text: str, encoding: str | None) -> str:
    """Return a text that the encoding can encode: unchanged, or with replacements and escapes.

    None stands for an encoding that can encode every character.
    """
    if encoding is None or text.isascii():
        return text
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_PLAIN).encode(encoding, "backslashreplace").decode(encoding)
    except LookupError:
        return legible(text, "ascii")
    return text


def cut(text: str, width: int) -> str:
    """Return the start of a line that fits into ``width`` columns."""
    from wcwidth import wcwidth

    columns = 0
    for at, char in enumerate(text):
        columns += max(0, wcwidth(char))
        if columns > width:
            return text[:at]
    return text


def sparkline(values: Sequence[float | None], scale: tuple[float, float] | None = None) -> str:
    """Return a character for each value, scaled to the range of the values or to ``scale``; a space for None."""
    known = [value for value in values if value is not None]
    low, high = scale or (min(known, default=0.0), max(known, default=0.0))
    step = (high - low) / (len(SPARKS) - 1)
    middle = SPARKS[len(SPARKS) // 2]
    return "".join(
        " " if value is None else SPARKS[round((value - low) / step)] if step else middle for value in values
    ).rstrip()
