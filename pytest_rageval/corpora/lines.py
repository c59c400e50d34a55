"""Plain text with one document a line; a document is named by its file and line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pytest_rageval.corpora.document import Document
from pytest_rageval.corpora.files import lines_of
from pytest_rageval.datasets.source import shown_path

__all__ = ["read"]


def read(path: Path, name: str) -> Iterator[Document]:
    """Yield one document for each line that is not blank, ``name:line``."""
    shown = shown_path(path)
    for line, text in lines_of(path):
        yield Document(f"{name}:{line}", text, where=f"{shown}:{line}")
