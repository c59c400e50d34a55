"""The format ``rgb``: the passages of all records of an RGB file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pytest_rageval.corpora.document import Document
from pytest_rageval.datasets.rgb import load

__all__ = ["read"]


def read(path: Path, name: str) -> Iterator[Document]:
    """Yield a document for each passage of each record, whatever its role; its id is made from its text.

    If a testbed retrieves instead of using the records' passages, the qrels of the records use the same ids.
    """
    for instance in load(path):
        for passage in instance.passages or ():
            yield Document(passage.page, passage.text, where=instance.origin, shared=True)
