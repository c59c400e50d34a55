"""Print lines of the summary in colour, if the terminal supports it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pytest_rageval.errors import ascii_safe
from pytest_rageval.report.text.fit_text import legible
from pytest_rageval.report.text.lines import Line, Style

__all__ = ["colours_of", "paint"]

_STYLES: Mapping[Style, str] = {"green": "32", "red": "31", "yellow": "33", "bold": "1"}

_HEAT = {
    16: ("30;43", "33", "", "36", "30;46"),
    256: ("30;48;5;214", "30;48;5;223", "", "30;48;5;153", "30;48;5;75"),
}
"""Number of colours -> escape code of each heat level, from orange (worst) to blue, for colour-blind people too."""


def colours_of(environment: Mapping[str, str]) -> int:
    """Return how many colours a terminal has, 16 or 256, by its environment variables."""
    has_256 = "256color" in environment.get("TERM", "") or "COLORTERM" in environment or "WT_SESSION" in environment
    return 256 if has_256 else 16


def paint(line: Line, colours: int, encoding: str | None) -> str:
    """Return a line with the escape codes of its colours.

    Args:
        line: the line.
        colours: number of colours of the terminal: 0, 16 or 256.
        encoding: the terminal's encoding; None if it can encode every character.
    """
    if not colours:
        return legible(ascii_safe(line.text), encoding)
    text = "".join(_with_code(legible(ascii_safe(part), encoding), code) for part, code in _parts(line, colours))
    return _with_code(text, _STYLES.get(line.style, ""))


def _parts(line: Line, colours: int) -> Iterator[tuple[str, str]]:
    """Yield the text in parts, each with its colour code."""
    at = 0
    for mark in line.marks:
        yield line.text[at : mark.start], ""
        code = _STYLES.get(mark.level, "") if isinstance(mark.level, str) else _HEAT[colours][mark.level]
        yield line.text[mark.start : mark.end], code
        at = mark.end
    yield line.text[at:], ""


def _with_code(text: str, code: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if code and text else text
