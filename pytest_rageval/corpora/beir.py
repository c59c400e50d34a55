"""BEIR: a folder with ``corpus.jsonl``, whose records have ``_id``, ``title``, ``text`` and perhaps ``metadata``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pytest_rageval.corpora.document import Document
from pytest_rageval.corpora.jsonl import others, records
from pytest_rageval.datasets.source import shown_path
from pytest_rageval.errors import DataError
from pytest_rageval.model.case import NOTHING

__all__ = ["CORPUS", "read"]

CORPUS = "corpus.jsonl"
KEYS = frozenset({"_id", "metadata", "text", "title"})


def read(path: Path, name: str) -> Iterator[Document]:
    """Yield one document a record of ``corpus.jsonl``, in the folder ``path`` or itself.

    Some of BEIR's documents are but a title; it then is the text.
    """
    if path.is_dir():
        path /= CORPUS
        if not path.exists():
            raise DataError(shown_path(path), "no such file; a BEIR folder holds its documents there")
    for record in records(path):
        text, title = record.string("text", ""), record.string("title", "")
        if not text.strip() and title.strip():
            text, title = title, ""
        if not text.strip():
            raise record.error("text", "a string that is not empty, or a title")
        metadata = others(record, KEYS)
        if "metadata" in record:
            given = record.inner("metadata", record.values["metadata"], "an object").values
            metadata = {**given, **metadata} or NOTHING
        yield Document(record.identifier("_id"), text, title, metadata=metadata, where=record.where)
