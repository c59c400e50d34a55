"""Rankings: the passages that a retriever returned, best first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from pytest_rageval.errors import short_repr
from pytest_rageval.model.storage import ALWAYS, UNSTORED, stored

__all__ = ["Ranking", "ScoredPassage", "page_of"]

_CHUNK = re.compile(r"#[0-9]+\Z")


@dataclass(frozen=True, slots=True)
class ScoredPassage:
    """One retrieved passage.

    Attributes:
        doc_id: the passage's id in its corpus.
        score: the retriever's score, higher is better; None without a score.
        text: the passage's text, or "" if only ids are known.
        title: its title, or "".
        page: the id of its page; with "", `page_of` reads it from the passage's id.
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

    @property
    def fault(self) -> str | None:
        """The first field with an invalid type, its value and the required type; None if all are valid."""
        for name in ("doc_id", "text", "title", "page"):
            if not isinstance(value := getattr(self, name), str):
                return f"{name} {short_repr(value)}; it must be a str"
        if not (self.score is None or _is_number(self.score)):
            return f"score {short_repr(self.score)}; it must be a number or None"
        span: object = self.span
        if span is None or (isinstance(span, tuple) and len(span) == 2 and all(type(edge) is int for edge in span)):
            return None
        return f"span {short_repr(span)}; it must be two integers or None"


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

    @property
    def fault(self) -> str | None:
        """What is invalid in the ranking, and what to write instead; None if it is valid."""
        items: object = self.items
        if not isinstance(items, (tuple, list)):
            what = short_repr(items) if items is None or isinstance(items, str) else f"a {type(items).__name__}"
            return f"holds {what}; write Ranking(tuple(...)) with a ScoredPassage for each passage"
        for place, item in enumerate(items, 1):
            if not isinstance(item, ScoredPassage):
                return f"holds {short_repr(item)} at place {place}; write ScoredPassage(...) for each passage"
            if item.fault is not None:
                return f"holds at place {place} a passage with the {item.fault}"
        return None


def page_of(doc_id: str) -> str:
    """Return the page id in a passage's id: the part before ``#NUMBER``, or the whole id without a number."""
    return _CHUNK.sub("", doc_id) or doc_id


def _is_number(value: object) -> bool:
    return hasattr(value, "__float__") and not isinstance(value, bool)
