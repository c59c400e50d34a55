"""The format ``markdown``: each Markdown file is one document."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pytest_rageval.corpora.document import Document
from pytest_rageval.corpora.files import text_of
from pytest_rageval.text.headings import headings

__all__ = ["read"]


def read(path: Path, name: str) -> Iterator[Document]:
    """Yield the file as one document, with its markup; the id is the path, the title is the first heading."""
    text = text_of(path)
    first = next(headings(text), None)
    yield Document(name, text, "" if first is None else first.title)
