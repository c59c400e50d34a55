"""Escape texts for GitHub's Markdown, and truncate tables to fit."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pytest_rageval.errors import ascii_safe
from pytest_rageval.report.text.lines import counted
from pytest_rageval.report.text.tables import INDENT

__all__ = ["LONGEST", "Part", "Row", "code", "parts_within", "plain"]

Row = list[str]

LONGEST = 300
"""Maximum number of characters of a text; the rest is cut."""

FIRST, SHARES = 11, 12  # the first 11 parts have at least 1/12 of the room each, or less if they need less

TAIL = 200  # characters for the end of a part and the count of what was cut

_BREAK = "&#8203;"
"""Zero-width space; it prevents mentions, references, links and emoji in GitHub and GitLab."""

_LINKED = re.compile(r'(?i)[@#]|:(?=\S)|[!%&~](?=[\w"])|\bwww(?=\.)|\bgh(?=-\d)')
_COMMIT = re.compile(r"(?i)\b[0-9a-f]{7,40}\b")
_PIECE = re.compile(r"\w{6}")  # too short for a commit hash
_MARKUP = re.compile(r"[\\`*_\[\]~]")
_AT_START = re.compile(r"^(?=[-+=](?:[-+=\s]|$))|^\d+(?=[.)](?:\s|$))")
_PLAIN_CODE = re.compile(r"[^`|\\]+")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the report: a heading with a table.

    Attributes:
        title: its heading, as plain text.
        rows: rows of Markdown cells, the head first.
        folded: whether it is folded at first.
        numbers: indexes of the columns that are aligned right.
        notes: sentences below the table, as plain text.
        more: number of further rows, which are not made because they cannot fit.
    """

    title: str
    rows: Sequence[Row]
    folded: bool
    numbers: range
    notes: Sequence[str] = ()
    more: int = 0


def plain(text: str, longest: int = LONGEST) -> str:
    """Escape a text for Markdown: no markup, link, mention or line break remains."""
    escaped = _MARKUP.sub(lambda match: f"\\{match[0]}", _inert(text, longest))
    return _AT_START.sub(lambda match: f"{match[0]}\\", escaped)


def code(text: str) -> str:
    """Return a name as code; valid inside tables too."""
    shown = _shorten(text)
    if shown == shown.strip() and _PLAIN_CODE.fullmatch(shown):
        return f"`{shown}`"
    return f"<code>{_MARKUP.sub(lambda match: chr(92) + match[0], _inert(text))}</code>"


def parts_within(parts: Iterable[Part], room: int) -> str:
    """Return as many rows of the parts as fit in ``room`` characters, and a count of the rest.

    Each of the first parts has a reserved share, which the parts before it cannot use up.
    """
    all_parts = list(parts)
    reserved = [len(_render(part, room // SHARES)) + TAIL for part in all_parts[:FIRST]]
    text, n_parts, n_rows = "", 0, 0
    for at, part in enumerate(all_parts):
        rendered = _render(part, room - TAIL - len(text) - sum(reserved[at + 1 :]))
        text += rendered
        if not rendered:
            n_parts, n_rows = n_parts + 1, n_rows + len(part.rows) - 1 + part.more
    if n_parts:
        text += f"\n{counted(n_parts, 'more table')} with {counted(n_rows, 'row')} did not fit here.\n"
    return text


def _render(part: Part, room: int) -> str:
    """Return a part in at most ``room`` characters, with a count of rows that do not fit; "" if no row fits."""
    head, *rows = part.rows
    heading = f"<details><summary>{_inert(part.title)}</summary>" if part.folded else f"### {plain(part.title)}"
    closing = "\n</details>\n" if part.folded else ""
    rule = ["---:" if at in part.numbers else "---" for at in range(len(head))]
    text = f"\n{heading}\n\n{_row(head)}{_row(rule)}"
    for at, row in enumerate(rows):
        line = _row(row)
        if len(text) + len(line) + TAIL > room:
            return f"{text}{_rest(len(rows) - at + part.more)}{closing}" if at else ""
        text += line
    text += _rest(part.more)
    for at, note in enumerate(part.notes):
        paragraph = f"\n{plain(note)}\n"
        if len(text) + len(paragraph) + TAIL > room:
            return f"{text}\n{counted(len(part.notes) - at, 'more note')} did not fit here.\n{closing}"
        text += paragraph
    return text + closing


def _rest(n: int) -> str:
    return f"\n{counted(n, 'more row')} did not fit here.\n" if n else ""


def _row(cells: Row) -> str:
    return f"| {' | '.join(cells)} |\n"


def _shorten(text: str, longest: int = LONGEST) -> str:
    safe = ascii_safe(text[: longest + 1])
    return safe if len(text) <= longest and len(safe) <= longest else f"{safe[: longest - 3]}..."


def _inert(text: str, longest: int = LONGEST) -> str:
    """Return a text as HTML in which GitHub finds no markup, link or mention."""
    indent = len(text) - len(text.lstrip(INDENT))
    broken = _LINKED.sub(lambda match: f"{match[0]}\0", _shorten(text[indent:], longest))
    broken = _COMMIT.sub(lambda match: _PIECE.sub(lambda piece: f"{piece[0]}\0", match[0]), broken)
    escaped = html.escape(broken, quote=False).replace("|", "&#124;").replace("$", "<span>$</span>")
    return "&emsp;" * (indent // 2) + escaped.replace("\0", _BREAK)
