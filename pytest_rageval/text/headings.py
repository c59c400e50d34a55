"""Parse the headings of a Markdown text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Heading", "headings"]

_FRONT_MATTER = re.compile(r"---[ \t]*\n(?:.*\n)*?(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ATX = re.compile(r" {0,3}#{1,6}(?:[ \t]+(.*))?$")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
_NO_PARAGRAPH = re.compile(r"\s*$| {4}|\t| {0,3}(?:>|[-*+][ \t]|\d{1,9}[.)][ \t]|\|)")
"""Lines that cannot be a heading even if underlined: blank, code, a quotation, a list item, a table row."""


class Heading(NamedTuple):
    """A heading: the start of its first line, the start of the text below it, and its title."""

    start: int
    end: int
    title: str


def headings(text: str) -> Iterator[Heading]:
    """Yield the headings of a Markdown text with LF line ends, in order.

    A heading is a line that begins with one to six ``#``, or a line underlined with ``=`` or ``-``, outside fenced code
    and front matter. Time is linear in the length of the text.
    """
    front = _FRONT_MATTER.match(text)
    at = front.end() if front else 0
    fence, above = "", (at, "")
    while at < len(text):
        end = text.find("\n", at) + 1 or len(text)
        line = text[at:end].rstrip("\n")
        mark = _FENCE.match(line)
        atx = None if fence else _ATX.match(line)
        title = ""
        if fence:
            if mark and mark[1].startswith(fence) and not line[mark.end() :].strip():
                fence = ""
        elif mark:
            fence = mark[1]
        elif atx:
            yield Heading(at, end, _without_closing(atx[1] or ""))
        elif above[1] and _UNDERLINE.match(line):
            yield Heading(above[0], end, above[1])
        elif not _NO_PARAGRAPH.match(line):
            title = line.strip()
        above = (at, title)
        at = end


def _without_closing(title: str) -> str:
    """Return a heading's title without closing ``#``."""
    words = title.strip()
    bare = words.rstrip("#")
    return bare.rstrip() if not bare or bare[-1] in " \t" else words
