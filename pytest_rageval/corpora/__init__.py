"""Files -> passages: one module a format, imported when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from pytest_rageval.corpora.document import Document

__all__ = ["BUILTIN", "Reader"]

Reader = Callable[[Path, str], Iterable[Document]]
"""Reads one file; the text is the file as the ini names it, for documents that have no id of their own.

A fault is a `DataError` that names the file and the line. A generator, so that no file has to fit into memory.
"""

BUILTIN: dict[str, str] = {
    "beir": "pytest_rageval.corpora.beir:read",
    "html": "pytest_rageval.corpora.html:read",
    "jsonl": "pytest_rageval.corpora.jsonl:read",
    "lines": "pytest_rageval.corpora.lines:read",
    "markdown": "pytest_rageval.corpora.markdown:read",
    "rgb": "pytest_rageval.corpora.rgb:read",
    "text": "pytest_rageval.corpora.text:read",
    "tsv": "pytest_rageval.corpora.tsv:read",
}
"""Format name -> ``"module:attribute"`` of its reader."""
