"""Tab-separated columns ``id``, ``text``, ``title``, as RaLLe and DPR have them: quoted or not, header or not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from pytest_rageval.corpora.document import Document
from pytest_rageval.corpora.files import lines_of
from pytest_rageval.datasets.source import shown_path
from pytest_rageval.errors import DataError, found
from pytest_rageval.model.case import NOTHING

__all__ = ["read"]

COLUMNS = ("id", "text", "title")

_QUOTED = re.compile(r'"([^"]*(?:""[^"]*)*)"(?=\t|$)')


def read(path: Path, name: str) -> Iterator[Document]:
    """Yield one document a line.

    The first line is a header when it names ``id`` and ``text``; it may name them in any order, ``title`` and ``page``
    too, and others, which are metadata. Else it says by its columns, two or three, whether there are titles. A column
    that begins and ends with a quotation mark, every other doubled, is unquoted; a document may not span lines.
    """
    shown = shown_path(path)
    names: tuple[str, ...] = ()
    for line, text in lines_of(path):
        where = f"{shown}:{line}"
        columns = _columns(text)
        if not names:
            names = _names(columns, where)
            if "id" in map(_lowered, columns):
                continue
        if len(columns) != len(names):
            wanted = f"{len(names)} ({', '.join(names)}), as the first line has"
            raise DataError(where, f"found {len(columns)} columns between tabs, wanted {wanted}")
        yield _document(dict(zip(names, columns, strict=True)), where)


def _columns(line: str) -> list[str]:
    columns, at = [], 0
    while at <= len(line):
        quoted = _QUOTED.match(line, at)
        tab = line.find("\t", at)
        end = quoted.end() if quoted else len(line) if tab < 0 else tab
        columns.append(quoted[1].replace('""', '"') if quoted else line[at:end])
        at = end + 1
    return columns


def _names(first: list[str], where: str) -> tuple[str, ...]:
    """Return the names of the columns, by the first line."""
    lowered = tuple(map(_lowered, first))
    if {"id", "text"} <= set(lowered):
        if len(set(lowered)) != len(lowered):
            raise DataError(where, f"found the header {', '.join(map(found, first))}, wanted each name once")
        return lowered
    if len(first) not in (2, 3) or "id" in lowered:
        raise DataError(where, f"found the columns {', '.join(map(found, first[:4]))}, wanted id, text and title")
    return COLUMNS[: len(first)]


def _lowered(column: str) -> str:
    return column.strip().lower()


def _document(values: dict[str, str], where: str) -> Document:
    for key in ("id", "text"):
        if not values[key].strip():
            raise DataError(where, f"{key}: found {found(values[key])}, wanted a text that is not empty")
    name, text, title, page = (values.pop(key, "") for key in ("id", "text", "title", "page"))
    return Document(name, text, title, page, values or NOTHING, where)
