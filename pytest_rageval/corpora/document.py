"""The type that corpus readers yield: one document before chunking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_rageval.model.case import NOTHING

__all__ = ["Document"]


@dataclass(frozen=True, slots=True)
class Document:
    """One document of a corpus.

    Attributes:
        id: unique in the corpus.
        text: its full text, before chunking.
        title: its title, or "".
        page: the id of its page; "" means that its own id is the page.
        metadata: other fields.
        where: ``file:line`` for messages; "" means the file.
        shared: whether the id is computed from the text; then the document may occur several times and is read once.
    """

    id: str
    text: str
    title: str = ""
    page: str = ""
    metadata: Mapping[str, object] = field(default_factory=lambda: NOTHING, hash=False)
    where: str = ""
    shared: bool = False
