"""Evidence for a gold answer: quotes or spans, and their places in a corpus."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated

from pytest_rageval.model.storage import Bounds, stored

__all__ = ["Chunk", "Evidence", "EvidencePlace", "EvidenceUnit", "LocatedEvidence", "Span"]

Span = tuple[int, int]
"""Start and end in a text, in code points."""


@dataclass(frozen=True, slots=True)
class EvidenceUnit:
    """One piece of evidence, as written in a record: a quote or a span.

    Attributes:
        page: the id of its document in the corpus.
        quote: the text of the evidence; "" if the record has a span instead.
        span: start and end in the document's text, in code points; None if the record has a quote instead.
        grade: how relevant it is, 1 or more.
    """

    page: str
    quote: str = field(default="", metadata=stored(before="grade", private="removed"))
    span: Span | None = field(default=None, metadata=stored(before="grade"))
    grade: Annotated[int, Bounds(1)] = field(default=1, metadata=stored(always=True, needed=True))


Evidence = tuple[tuple[EvidenceUnit, ...], ...]
"""Alternatives; each of them is the whole evidence."""


@dataclass(frozen=True, slots=True)
class EvidencePlace:
    """One occurrence of a unit in a document.

    Attributes:
        document: the document's id.
        span: its start and end in the document, in code points.
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
        span: its start and end in the document, in code points.
        text: its text.
    """

    document: str
    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class LocatedEvidence:
    """Where a corpus holds the evidence of a session's cases.

    Attributes:
        places: unit -> its occurrences in the corpus; units that the corpus does not contain are absent.
        chunks: passage id -> the passage, for every document that evidence names.
        holds: function that returns whether the corpus has a passage with an id, or a page with a name.
    """

    places: Mapping[EvidenceUnit, tuple[EvidencePlace, ...]]
    chunks: Mapping[str, Chunk]
    holds: Callable[[str], bool]
