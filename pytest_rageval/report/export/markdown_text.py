"""GitHub's Markdown: texts that stay texts in it, and tables of which as much is kept as there is room for."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pytest_rageval.errors import ascii_safe
from pytest_rageval.report.text.lines import counted
from pytest_rageval.report.text.tables import INDENT

__all__ = ["FEW_ROWS", "LONGEST", "Part", "Row", "code", "parts_within", "plain"]

Row = list[str]

FEW_ROWS = 12
"""A table with more is folded."""

LONGEST = 300
"""Characters of a text, of which the rest is cut."""

FIRST, SHARES = 8, 12  # parts that room is kept for, and what share of it: 1/12 each, or less where that will do

TAIL = 200  # characters that closing a part and counting what was cut take at most

_APART = "&#8203;"
"""A space of no width, within what GitHub or GitLab would make a mention, a reference, a link or an emoji of."""

_LINKED = re.compile(r'(?i)[@#]|:(?=\S)|[!%&~](?=[\w"])|\bwww(?=\.)|\bgh(?=-\d)')
_COMMIT = re.compile(r"(?i)\b[0-9a-f]{7,40}\b")
_PIECE = re.compile(r"\w{6}")  # too short for a commit
_MARKUP = re.compile(r"[\\`*_\[\]~]")
_AT_START = re.compile(r"^(?=[-+=](?:[-+=\s]|$))|^\d+(?=[.)](?:\s|$))")
_TAME = re.compile(r"[^`|\\]+")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the report: a heading, and a table under it.

    Attributes:
        title: its heading, a text.
        rows: of the table, as Markdown, the head first.
        folded: whether it opens only when it is clicked.
        numbers: its columns that are aligned to the right.
    """

    title: str
    rows: Sequence[Row]
    folded: bool
    numbers: range


def plain(text: str) -> str:
    """Return a text that Markdown shows as it stands: nothing in it is markup, a link, a mention or a new line."""
    escaped = _MARKUP.sub(lambda found: f"\\{found[0]}", _inert(text))
    return _AT_START.sub(lambda found: f"{found[0]}\\", escaped)


def code(text: str) -> str:
    """Return a name as code, in a table too."""
    shown = _shortened(text)
    if shown == shown.strip() and _TAME.fullmatch(shown):
        return f"`{shown}`"
    return f"<code>{_MARKUP.sub(lambda found: chr(92) + found[0], _inert(text))}</code>"


def parts_within(parts: Iterable[Part], room: int) -> str:
    """Return as many rows of the parts as fit in so many characters, and how much does not.

    None of the first parts is so long that those behind it have no room: for each a share of it is kept.
    """
    listed = list(parts)
    kept = [len(_rendered(part, room // SHARES)) + TAIL for part in listed[:FIRST]]
    text, n_parts, n_rows = "", 0, 0
    for at, part in enumerate(listed):
        rendered = _rendered(part, room - TAIL - len(text) - sum(kept[at + 1 :]))
        text += rendered
        if not rendered:
            n_parts, n_rows = n_parts + 1, n_rows + len(part.rows) - 1
    if n_parts:
        text += f"\n{counted(n_parts, 'more table')} with {counted(n_rows, 'row')} did not fit here.\n"
    return text


def _rendered(part: Part, room: int) -> str:
    """Return a part in at most ``room`` characters, with how many of its rows do not fit; "" where none does."""
    head, *rows = part.rows
    heading = f"<details><summary>{_inert(part.title)}</summary>" if part.folded else f"### {plain(part.title)}"
    closing = "\n</details>\n" if part.folded else ""
    rule = ["---:" if at in part.numbers else "---" for at in range(len(head))]
    text = f"\n{heading}\n\n{_row(head)}{_row(rule)}"
    for at, row in enumerate(rows):
        line = _row(row)
        if len(text) + len(line) + TAIL > room:
            return f"{text}\n{counted(len(rows) - at, 'more row')} did not fit here.\n{closing}" if at else ""
        text += line
    return text + closing


def _row(cells: Row) -> str:
    return f"| {' | '.join(cells)} |\n"


def _shortened(text: str) -> str:
    safe = ascii_safe(text[: LONGEST + 1])
    return safe if len(text) <= LONGEST and len(safe) <= LONGEST else f"{safe[: LONGEST - 3]}..."


def _inert(text: str) -> str:
    """Return a text as HTML that GitHub shows as it stands."""
    indent = len(text) - len(text.lstrip(INDENT))
    apart = _LINKED.sub(lambda found: f"{found[0]}\0", _shortened(text[indent:]))
    apart = _COMMIT.sub(lambda found: _PIECE.sub(lambda piece: f"{piece[0]}\0", found[0]), apart)
    escaped = html.escape(apart, quote=False).replace("|", "&#124;").replace("$", "<span>$</span>")
    return "&emsp;" * (indent // 2) + escaped.replace("\0", _APART)
