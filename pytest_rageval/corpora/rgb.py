"""RGB: the passages of all records of a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pytest_rageval.corpora.document import Document
from pytest_rageval.datasets.rgb import load

__all__ = ["read"]


def read(path: Path, name: str) -> Iterator[Document]:
    """Yield a document for each passage of each record, whatever it is to the record, by its content's id.

    The records are judged by the same ids, where they are asked without their passages.
    """
    for instance in load(path):
        for passage in instance.passages or ():
            yield Document(passage.page, passage.text, where=instance.origin, shared=True)
