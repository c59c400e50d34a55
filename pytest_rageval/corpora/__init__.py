"""Corpus formats: one reader module each, imported on first use."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from pytest_rageval.corpora.document import Document

__all__ = ["BUILTIN", "Reader"]

Reader = Callable[[Path, str], Iterable[Document]]
"""Reads one file. Its second argument is the file's name in the ini, for documents without an id.

An invalid record raises a `DataError` with file and line. Readers are generators, so a file may be larger than memory.
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
