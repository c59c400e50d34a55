"""The format ``beir``: a folder with a ``corpus.jsonl``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pytest_rageval.corpora.document import Document
from pytest_rageval.corpora.jsonl import other_fields, records
from pytest_rageval.datasets.source import shown_path
from pytest_rageval.errors import DataError
from pytest_rageval.model.case import NOTHING

__all__ = ["CORPUS", "read"]

CORPUS = "corpus.jsonl"
KEYS = frozenset({"_id", "metadata", "text", "title"})


def read(path: Path, name: str) -> Iterator[Document]:
    """Yield one document per record: ``_id``, ``title``, ``text`` and optional ``metadata``.

    ``path`` is the file or its folder. If a document has only a title, the title becomes the text.
    """
    if path.is_dir():
        path /= CORPUS
        if not path.exists():
            raise DataError(shown_path(path), "no such file; a BEIR folder needs it", code="RAG105")
    for record in records(path):
        text, title = record.string("text", ""), record.string("title", "")
        if not text.strip() and title.strip():
            text, title = title, ""
        if not text.strip():
            raise record.error("text", "a string that is not empty, or a title")
        metadata = other_fields(record, KEYS)
        if "metadata" in record:
            inner = record.inner("metadata", record.values["metadata"], "an object").values
            metadata = {**inner, **metadata} or NOTHING
        yield Document(record.identifier("_id"), text, title, metadata=metadata, where=record.where)
