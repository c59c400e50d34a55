"""The format ``jsonl``: one JSON object per line with ``id`` and ``text``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from pytest_rageval.corpora.document import Document
from pytest_rageval.corpora.files import lines_of
from pytest_rageval.datasets.fields import Fields
from pytest_rageval.datasets.source import read_line, shown_path
from pytest_rageval.model.case import NOTHING

__all__ = ["other_fields", "read", "records"]

KEYS = frozenset({"id", "page", "text", "title"})


def read(path: Path, name: str) -> Iterator[Document]:
    """Yield one document per record: ``id``, ``text``, optional ``title`` and ``page``; other keys are metadata."""
    for record in records(path):
        yield Document(
            id=record.identifier("id"),
            text=record.text("text"),
            title=record.string("title", ""),
            page=record.identifier("page") if "page" in record else "",
            metadata=other_fields(record, KEYS),
            where=record.where,
        )


def other_fields(record: Fields, keys: frozenset[str]) -> Mapping[str, object]:
    """Return the fields of a record that are not in ``keys``."""
    return {key: value for key, value in record.values.items() if key not in keys} or NOTHING


def records(path: Path) -> Iterator[Fields]:
    """Yield the fields of each line of a JSON Lines file."""
    name = shown_path(path)
    for line, text in lines_of(path):
        values = read_line(text, name, line)
        if values is not None:
            yield Fields(f"{name}:{line}", values)
