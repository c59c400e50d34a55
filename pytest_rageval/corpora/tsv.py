"""The format ``tsv``: tab-separated ``id``, ``text``, ``title``, as in DPR and RaLLe."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from pytest_rageval.corpora.document import Document
from pytest_rageval.corpora.files import lines_of
from pytest_rageval.datasets.source import shown_path
from pytest_rageval.errors import DataError, short_repr
from pytest_rageval.model.case import NOTHING

__all__ = ["read"]

COLUMNS = ("id", "text", "title")

_QUOTED = re.compile(r'"([^"]*(?:""[^"]*)*)"(?=\t|$)')


def read(path: Path, name: str) -> Iterator[Document]:
    """Yield one document per line.

    The first line is a header if it contains ``id`` and ``text``, in any order; ``title`` and ``page`` are optional,
    other columns become metadata. Without a header, the columns are id, text and optionally title. A column may be in
    quotation marks; marks inside it are doubled. A document is always a single line.
    """
    displayed = shown_path(path)
    names: tuple[str, ...] = ()
    for line, text in lines_of(path):
        where = f"{displayed}:{line}"
        columns = _columns(text)
        if not names:
            names = _names(columns, where)
            if "id" in map(_normal, columns):
                continue
        if len(columns) != len(names):
            expected = f"{len(names)} ({', '.join(names)}), like the first line"
            raise DataError(where, f"found {len(columns)} columns between tabs, wanted {expected}")
        yield _document(dict(zip(names, columns, strict=True)), where)


def _columns(line: str) -> list[str]:
    columns, position = [], 0
    while position <= len(line):
        match = _QUOTED.match(line, position)
        tab = line.find("\t", position)
        end = match.end() if match else len(line) if tab < 0 else tab
        columns.append(match[1].replace('""', '"') if match else line[position:end])
        position = end + 1
    return columns


def _names(first: list[str], where: str) -> tuple[str, ...]:
    """Return the names of the columns from the first line."""
    lowered = tuple(map(_normal, first))
    if {"id", "text"} <= set(lowered):
        if len(set(lowered)) != len(lowered):
            raise DataError(where, f"found the header {', '.join(map(short_repr, first))}, wanted each name once")
        return lowered
    if len(first) not in (2, 3) or "id" in lowered:
        raise DataError(where, f"found the columns {', '.join(map(short_repr, first[:4]))}, wanted id, text and title")
    return COLUMNS[: len(first)]


def _normal(column: str) -> str:
    return column.strip().lower()


def _document(values: dict[str, str], where: str) -> Document:
    for key in ("id", "text"):
        if not values[key].strip():
            raise DataError(where, f"{key}: found {short_repr(values[key])}, wanted a text that is not empty")
    name, text, title, page = (values.pop(key, "") for key in ("id", "text", "title", "page"))
    return Document(name, text, title, page, values or NOTHING, where)
