"""RGB: the passages of all records of a file, each text once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pytest_rageval.corpora.document import Document
from pytest_rageval.datasets.rgb import load

__all__ = ["read"]


def read(path: Path, name: str) -> Iterator[Document]:
    """Yield one document for each text that a record has as a passage, whatever it is to it, by its content's id.

    The record's qrels are of the same ids, where it is asked without its passages.
    """
    seen = set()
    for instance in load(path):
        for passage in instance.passages or ():
            if passage.page not in seen:
                seen.add(passage.page)
                yield Document(passage.page, passage.text, where=instance.origin)
