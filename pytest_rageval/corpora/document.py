"""What a reader yields: one document, before it is cut into passages."""

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
        text: the document itself; passages are cut from it.
        title: its title, or "".
        page: the id of the page it belongs to; "" makes it a page of its own, by its id.
        metadata: what else is known of it.
        where: ``file:line`` for messages; "" stands for the file that is read.
        shared: whether its id says its text, so that there may be several of it; it is one passage of the corpus.
    """

    id: str
    text: str
    title: str = ""
    page: str = ""
    metadata: Mapping[str, object] = field(default_factory=lambda: NOTHING, hash=False)
    where: str = ""
    shared: bool = False
