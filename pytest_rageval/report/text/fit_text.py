"""Text for a terminal: no wider than that, and in characters that it knows."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["SPARKS", "cut", "legible", "sparkline"]

SPARKS = "▁▂▃▄▅▆▇█"
"""The levels of a spark, lowest first."""

_PLAIN = str.maketrans(f"–·×…{SPARKS}", "--x._.:~=+*#")
"""What stands for ours where a code page lacks them."""


def legible(text: str, encoding: str | None) -> str:
    """Return a text that can be encoded: as it stands, or plain and with the rest of it escaped; None takes all."""
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
    """Return as much of a line as fits in so many columns."""
    from wcwidth import wcwidth

    taken = 0
    for at, char in enumerate(text):
        taken += max(0, wcwidth(char))
        if taken > width:
            return text[:at]
    return text


def sparkline(values: Sequence[float | None], scale: tuple[float, float] | None = None) -> str:
    """Return a character for each value, from the lowest to the highest of them or of ``scale``; a space for none."""
    known = [value for value in values if value is not None]
    low, high = scale or (min(known, default=0.0), max(known, default=0.0))
    step = (high - low) / (len(SPARKS) - 1)
    middle = SPARKS[len(SPARKS) // 2]
    return "".join(
        " " if value is None else SPARKS[round((value - low) / step)] if step else middle for value in values
    ).rstrip()
