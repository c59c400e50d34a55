"""Escape texts for GitHub's Markdown, and truncate tables to fit."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pytest_rageval.errors import ascii_safe
from pytest_rageval.report.text.lines import counted
from pytest_rageval.report.text.tables import INDENT

__all__ = ["MAX_TEXT", "MarkdownTable", "Row", "code", "plain", "tables_within"]

Row = list[str]

MAX_TEXT = 300
"""Maximum number of characters of a text; a longer one is truncated."""

RESERVED_TABLES, SHARES = 11, 12
"""Each of the first 11 tables has 1/12 of the room reserved, or less if it needs less."""

TAIL = 200
"""Characters reserved for the end of a table and the number of rows that were cut."""

_BREAK = "&#8203;"
"""Zero-width space; it prevents mentions, references, links and emoji in GitHub and GitLab."""

_LINKED = re.compile(r'(?i)[@#]|:(?=\S)|[!%&~](?=[\w"])|\bwww(?=\.)|\bgh(?=-\d)')
_COMMIT = re.compile(r"(?i)\b[0-9a-f]{7,40}\b")
_PIECE = re.compile(r"\w{6}")  # too short for a commit hash
_MARKUP = re.compile(r"[\\`*_\[\]~]")
_AT_START = re.compile(r"^(?=[-+=](?:[-+=\s]|$))|^\d+(?=[.)](?:\s|$))")
_PLAIN_CODE = re.compile(r"[^`|\\]+")


@dataclass(frozen=True, slots=True)
class MarkdownTable:
    """A table of the report with its heading.

    Attributes:
        title: the heading, as plain text.
        rows: rows of Markdown cells, the head first.
        folded: whether readers must open it to see its rows.
        numbers: indexes of the columns with numbers, which are aligned right.
        notes: sentences below the table, as plain text.
        more: number of further rows that are not built because they cannot fit.
    """

    title: str
    rows: Sequence[Row]
    folded: bool
    numbers: range
    notes: Sequence[str] = ()
    more: int = 0


def plain(text: str, max_length: int = MAX_TEXT) -> str:
    """Escape a text for Markdown, so that it has no markup, link, mention or line break."""
    escaped = _MARKUP.sub(lambda match: f"\\{match[0]}", _inert(text, max_length))
    return _AT_START.sub(lambda match: f"{match[0]}\\", escaped)


def code(text: str) -> str:
    """Format a name as code, also valid inside tables."""
    short_text = _shorten(text)
    if short_text == short_text.strip() and _PLAIN_CODE.fullmatch(short_text):
        return f"`{short_text}`"
    return f"<code>{_MARKUP.sub(lambda match: chr(92) + match[0], _inert(text))}</code>"


def tables_within(tables: Iterable[MarkdownTable], room: int) -> str:
    """Return as many rows of the tables as fit in ``room`` characters, and the number of the rest.

    Each of the first tables has a reserved share, which earlier tables cannot use up.
    """
    all_tables = list(tables)
    reserved = [len(_render(table, room // SHARES)) + TAIL for table in all_tables[:RESERVED_TABLES]]
    text, n_tables, n_rows = "", 0, 0
    for at, table in enumerate(all_tables):
        rendered = _render(table, room - TAIL - len(text) - sum(reserved[at + 1 :]))
        text += rendered
        if not rendered:
            n_tables, n_rows = n_tables + 1, n_rows + len(table.rows) - 1 + table.more
    if n_tables:
        text += f"\n{counted(n_tables, 'more table')} with {counted(n_rows, 'row')} did not fit here.\n"
    return text


def _render(table: MarkdownTable, room: int) -> str:
    """Return a table in at most ``room`` characters, with the number of rows left out; "" if no row fits."""
    head, *rows = table.rows
    heading = f"<details><summary>{_inert(table.title)}</summary>" if table.folded else f"### {plain(table.title)}"
    closing_tag = "\n</details>\n" if table.folded else ""
    rule = ["---:" if at in table.numbers else "---" for at in range(len(head))]
    text = f"\n{heading}\n\n{_row(head)}{_row(rule)}"
    for at, row in enumerate(rows):
        line = _row(row)
        if len(text) + len(line) + TAIL > room:
            return f"{text}{_more_rows_text(len(rows) - at + table.more)}{closing_tag}" if at else ""
        text += line
    text += _more_rows_text(table.more)
    for at, note in enumerate(table.notes):
        paragraph = f"\n{plain(note)}\n"
        if len(text) + len(paragraph) + TAIL > room:
            return f"{text}\n{counted(len(table.notes) - at, 'more note')} did not fit here.\n{closing_tag}"
        text += paragraph
    return text + closing_tag


def _more_rows_text(n: int) -> str:
    return f"\n{counted(n, 'more row')} did not fit here.\n" if n else ""


def _row(cells: Row) -> str:
    return f"| {' | '.join(cells)} |\n"


def _shorten(text: str, max_length: int = MAX_TEXT) -> str:
    safe = ascii_safe(text[: max_length + 1])
    return safe if len(text) <= max_length and len(safe) <= max_length else f"{safe[: max_length - 3]}..."


def _inert(text: str, max_length: int = MAX_TEXT) -> str:
    """Return a text as HTML in which GitHub finds no markup, link or mention."""
    indent = len(text) - len(text.lstrip(INDENT))
    with_breaks = _LINKED.sub(lambda match: f"{match[0]}\0", _shorten(text[indent:], max_length))
    with_breaks = _COMMIT.sub(lambda match: _PIECE.sub(lambda piece: f"{piece[0]}\0", match[0]), with_breaks)
    escaped = html.escape(with_breaks, quote=False).replace("|", "&#124;").replace("$", "<span>$</span>")
    return "&emsp;" * (indent // 2) + escaped.replace("\0", _BREAK)
