"""The format ``lines``: each line of a text file is one document."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pytest_rageval.corpora.document import Document
from pytest_rageval.corpora.files import lines_of
from pytest_rageval.datasets.source import shown_path

__all__ = ["read"]


def read(path: Path, name: str) -> Iterator[Document]:
    """Yield one document per non-blank line, with the id ``name:line``."""
    displayed = shown_path(path)
    for line, text in lines_of(path):
        yield Document(f"{name}:{line}", text, where=f"{displayed}:{line}")
