"""The format ``text``: each text file is one document."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pytest_rageval.corpora.document import Document
from pytest_rageval.corpora.files import text_of

__all__ = ["read"]


def read(path: Path, name: str) -> Iterator[Document]:
    """Yield the file as one document without a title; the id is the path."""
    yield Document(name, text_of(path))
