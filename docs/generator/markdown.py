"""Markdown that the generated pages are made of."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable

MADE = "<!-- Made by docs/generate.py from the code. Change the code, then run it again. -->"


def page(lines: Iterable[str]) -> str:
    """Return a page: its title, the note on where it comes from, the rest."""
    title, *rest = lines
    return re.sub(r"\n{3,}", "\n\n", "\n".join([f"# {title}", "", MADE, "", *rest])).rstrip() + "\n"


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Return a Markdown table."""
    cells = [head, ("---",) * len(head), *rows]
    lines = [
        f"| {' | '.join(' '.join(str(cell).split()).replace('|', chr(92) + '|') for cell in row)} |" for row in cells
    ]
    return ["", *lines, ""]


def sentence(text: str) -> str:
    """Return a phrase of the code as the text of a table: trimmed, with a capital."""
    text = " ".join(text.split()).replace("``", "`").replace("%%", "%")
    return text[:1].upper() + text[1:] if re.match(r"[a-z]+[ ,:]", text) else text


def described(text: str) -> list[tuple[str, str]]:
    """Return name and meaning of each entry of an ``Args:`` or ``Attributes:`` section."""
    entries: list[list[str]] = []
    for line in inspect.cleandoc(text).splitlines():
        if match := re.match(r"(\*{0,2}\w+): (.*)", line):
            entries.append([match[1], match[2]])
        elif entries and line.startswith(" "):
            entries[-1][1] += " " + line.strip()
    return [(f"`{name}`", sentence(meaning)) for name, meaning in entries]


def slug(title: str) -> str:
    """Return the anchor of a heading, as GitHub and MyST make it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
