"""Evidence for a gold answer: quotes or spans of documents, and the places where a corpus holds them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

__all__ = ["Chunk", "Evidence", "EvidencePlace", "EvidenceUnit", "LocatedEvidence", "Span"]

Span = tuple[int, int]
"""Start and end in a text, in code points."""


@dataclass(frozen=True, slots=True)
class EvidenceUnit:
    """One piece of evidence, as a record states it.

    Attributes:
        page: the id of its document in the corpus.
        quote: its text; "" where a span states it.
        span: its start and end in the document's text, in code points; None where a quote states it.
        grade: how relevant it is, 1 or more.
    """

    page: str
    quote: str = ""
    span: Span | None = None
    grade: int = 1


Evidence = tuple[tuple[EvidenceUnit, ...], ...]
"""Alternatives; each one is the whole evidence."""


@dataclass(frozen=True, slots=True)
class EvidencePlace:
    """One occurrence of a unit in a document.

    Attributes:
        document: the document's id.
        span: its start and end there.
        text: the document's text between them.
    """

    document: str
    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of a document that holds evidence.

    Attributes:
        document: the document's id.
        span: its start and end in the document.
        text: its text.
    """

    document: str
    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class LocatedEvidence:
    """Where a corpus holds the evidence of a session's cases.

    Attributes:
        places: the occurrences of each unit that the corpus holds; a unit that it does not hold is missing.
        chunks: passage id -> the passage, for every document that evidence names.
        holds: tells whether the corpus has a passage of that id, or a page of that name.
    """

    places: Mapping[EvidenceUnit, tuple[EvidencePlace, ...]]
    chunks: Mapping[str, Chunk]
    holds: Callable[[str], bool]
