"""A ranking: the passages a retriever found, best first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from pytest_rageval.model.stored import ALWAYS, UNSTORED, stored

__all__ = ["Ranking", "ScoredPassage", "page_of"]

_CHUNK = re.compile(r"#[0-9]+\Z")


@dataclass(frozen=True, slots=True)
class ScoredPassage:
    """One retrieved passage.

    Attributes:
        doc_id: the passage's id in its corpus.
        score: the retriever's score, higher is better; None if it gives none.
        text: the passage's text, or "" if only ids are known.
        title: its title, or "".
        page: the id of its page, or "" to let `page_of` read it from the passage's id.
        span: its start and end in the page's text, in code points; None if unknown.
    """

    doc_id: str
    score: float | None = field(default=None, metadata=ALWAYS)
    text: str = field(default="", metadata=stored(private="removed"))
    title: str = field(default="", metadata=stored(private="removed"))
    page: str = ""
    span: tuple[int, int] | None = field(default=None, metadata=UNSTORED)

    @property
    def page_id(self) -> str:
        """The id of the passage's page."""
        return self.page or page_of(self.doc_id)


@dataclass(frozen=True, slots=True)
class Ranking:
    """Retrieved passages, best first."""

    items: tuple[ScoredPassage, ...] = field(default=(), metadata=stored(alone=True))

    def __iter__(self) -> Iterator[ScoredPassage]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, rank: int) -> ScoredPassage:
        return self.items[rank]

    @property
    def doc_ids(self) -> tuple[str, ...]:
        """The ids, best first."""
        return tuple(item.doc_id for item in self.items)


def page_of(doc_id: str) -> str:
    """Return the page id in a passage's id: the part before ``#NUMBER``, or the whole id without one."""
    return _CHUNK.sub("", doc_id) or doc_id
