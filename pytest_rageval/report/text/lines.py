"""A line of the summary, and functions that format its numbers and names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from pytest_rageval.analysis.statistics import Interval
from pytest_rageval.errors import ascii_safe

__all__ = [
    "Line", "Mark", "Style", "counted", "dollars", "few_of", "in_units", "interval", "moment",
    "number", "signed", "wrap",
]  # fmt: skip

Style = Literal["", "green", "red", "yellow", "bold"]


class Mark(NamedTuple):
    """A part of a line with its own style.

    Attributes:
        start: index of the first character.
        end: index after the last character.
        level: a style, or a heat level from 0 (worst) to 4.
    """

    start: int
    end: int
    level: int | Style


class Line(NamedTuple):
    """A line of text with its style; ``marks`` are the parts with their own style, in order."""

    text: str
    style: Style = ""
    marks: tuple[Mark, ...] = ()


def counted(n: int, what: str) -> str:
    """Return ``1 case`` or ``2 cases``."""
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def in_units(n: int | None, facet: str) -> str:
    """Return `` in 20 dialogues``, or `` in 20 units of category`` if the plural is not just ``s``; "" for None."""
    if n is None:
        return ""
    has_regular_plural = facet.isascii() and facet.isalpha() and facet[-1] not in "hosxyz"
    return f" in {counted(n, facet)}" if has_regular_plural else f" in {counted(n, 'unit')} of {ascii_safe(facet)}"


def number(value: float | None) -> str:
    """Return a value to four digits, or a dash for None."""
    return "–" if value is None else f"{value:.4g}"


def interval(ci95: Interval | None) -> str:
    """Return ``[0.71, 0.93]``, or a dash for None."""
    return "–" if ci95 is None else f"[{ci95[0]:.2f}, {ci95[1]:.2f}]"


def signed(value: float | None) -> str:
    """Return ``-0.03``, a difference to four digits, or a dash for None."""
    return "–" if value is None else f"{value:+.4g}" if value else "0"


def moment(started: str) -> str:
    """Return an ISO 8601 time to the minute."""
    return started[:16].replace("T", " ")


def dollars(value: float) -> str:
    """Return ``$0.0123``; a price above zero is never shown as zero."""
    if value == 0:
        return "$0"
    return f"${value:,.4f}" if value >= 0.0001 else "<$0.0001"


def few_of(names: tuple[str, ...], limit: int) -> str:
    """Return the first ``limit`` names and the number of others, ``a, b, ... 3 more``, or ``none``."""
    more = f", ... {len(names) - limit} more" if len(names) > limit else ""
    return f"{', '.join(names[:limit])}{more}" if names else "none"


def wrap(line: Line, width: int, *, between: str = " ", indent: int = 2) -> Iterator[Line]:
    """Yield a line wrapped to a width, without cutting its pieces.

    Args:
        line: the line, without marks.
        width: columns of the terminal.
        between: separator of the pieces; a piece that is too wide alone is wrapped at its spaces.
        indent: indent of the lines after the first.
    """
    from wcwidth import wcswidth

    if wcswidth(line.text) <= width:
        yield line
        return
    text, *pieces = line.text.split(between)
    for piece in pieces:
        if not text.strip() or wcswidth(f"{text}{between}{piece}".rstrip()) <= width:
            text += between + piece
        elif piece:
            yield from _words(Line(text.rstrip(), line.style), width, between, indent)
            text = " " * indent + piece
    yield from _words(Line(text.rstrip(), line.style), width, between, indent)


def _words(line: Line, width: int, between: str, indent: int) -> Iterator[Line]:
    yield from (line,) if between == " " else wrap(line, width, indent=indent)
