"""Group chunks into the documents that topics are built from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pytest_rageval.model.case import Passage
from pytest_rageval.text.headings import headings

__all__ = ["TopicDocument", "documents_of"]


@dataclass(frozen=True, slots=True)
class TopicDocument:
    """One document.

    Attributes:
        id: the id of its page.
        topic: its metadata ``topic``, or "".
        heading: its first heading, or "".
        text: its text, with its title.
    """

    id: str
    topic: str
    heading: str
    text: str

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders of its id, if the id is a path."""
        return tuple(part for part in self.id.partition("://")[2 if "://" in self.id else 0].split("/")[:-1] if part)


def documents_of(chunks: Iterable[Passage]) -> tuple[TopicDocument, ...]:
    """Return the documents of some chunks, in order; chunks of the same page are one document."""
    pages: dict[str, list[Passage]] = {}
    for chunk in chunks:
        pages.setdefault(chunk.page or chunk.id, []).append(chunk)
    return tuple(_document(page, members) for page, members in pages.items())


def _document(page: str, chunks: list[Passage]) -> TopicDocument:
    topic = chunks[0].metadata.get("topic")
    titles = (heading.title for chunk in chunks for heading in headings(chunk.text) if heading.title)
    text = "\n".join([chunks[0].title, *(chunk.text for chunk in chunks)])
    return TopicDocument(page, topic.strip() if isinstance(topic, str) else "", next(titles, ""), text)
