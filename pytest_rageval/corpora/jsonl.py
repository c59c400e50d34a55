"""Our own format: one JSON object a line with ``id`` and ``text``; keys it does not know are metadata."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from pytest_rageval.corpora.document import Document
from pytest_rageval.corpora.files import lines_of
from pytest_rageval.datasets.fields import Fields
from pytest_rageval.datasets.source import read_line, shown_path
from pytest_rageval.model.case import NOTHING

__all__ = ["others", "read", "records"]

KEYS = frozenset({"id", "page", "text", "title"})


def read(path: Path, name: str) -> Iterator[Document]:
    """Yield one document a record: ``id``, ``text``, and where they are given ``title`` and ``page``."""
    for record in records(path):
        yield Document(
            id=record.identifier("id"),
            text=record.text("text"),
            title=record.string("title", ""),
            page=record.identifier("page") if "page" in record else "",
            metadata=others(record, KEYS),
            where=record.where,
        )


def others(record: Fields, known: frozenset[str]) -> Mapping[str, object]:
    """Return the keys of a record that are not ``known``, with their values."""
    return {key: value for key, value in record.values.items() if key not in known} or NOTHING


def records(path: Path) -> Iterator[Fields]:
    """Yield the fields of each line of a JSON Lines file."""
    name = shown_path(path)
    for line, text in lines_of(path):
        values = read_line(text, name, line)
        if values is not None:
            yield Fields(f"{name}:{line}", values)
