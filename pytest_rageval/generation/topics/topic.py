"""The topic and the tree of topics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

__all__ = ["SEPARATOR", "Topic", "TopicTree"]

SEPARATOR = "/"
"""Separates a parent from its topic in a path: ``Transit/Ferries``."""


@dataclass(frozen=True, slots=True)
class Topic:
    """One topic.

    Attributes:
        name: its name, without ``/``.
        parent: the path of its parent; "" for none.
        keywords: words and phrases that are typical of its texts.
        documents: the ids of documents that belong to it, whatever words they contain.
    """

    name: str
    parent: str = ""
    keywords: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """The names from the top-level topic to this one, joined by ``/``."""
        return f"{self.parent}{SEPARATOR}{self.name}" if self.parent else self.name


@dataclass(frozen=True)
class TopicTree:
    """Topics by path, parents before their children.

    Attributes:
        topics: the topics.
    """

    topics: tuple[Topic, ...]

    def __iter__(self) -> Iterator[Topic]:
        return iter(self.topics)

    def __len__(self) -> int:
        return len(self.topics)

    @cached_property
    def by_path(self) -> Mapping[str, Topic]:
        """Path -> topic."""
        return {topic.path: topic for topic in self.topics}

    @cached_property
    def of_documents(self) -> Mapping[str, str]:
        """Id of a document -> path of the first topic that lists it."""
        paths: dict[str, str] = {}
        for topic in self.topics:
            for document in topic.documents:
                paths.setdefault(document, topic.path)
        return paths

    @property
    def leaves(self) -> Iterable[Topic]:
        """The topics without children."""
        parents = {topic.parent for topic in self.topics}
        return (topic for topic in self.topics if topic.path not in parents)
