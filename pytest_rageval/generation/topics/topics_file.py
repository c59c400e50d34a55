"""Read and write ``topics.toml``, which people may edit."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from pytest_rageval.datasets.source import shown_path
from pytest_rageval.errors import DataError, did_you_mean, short_repr
from pytest_rageval.generation.section import Section, sections_of
from pytest_rageval.generation.topics.topic import SEPARATOR, Topic, TopicTree
from pytest_rageval.toml_files import read_toml

__all__ = ["read_topics", "topics_text"]

KEYS = ("documents", "keywords", "name", "parent")


def read_topics(path: Path) -> TopicTree:
    """Return the topics of a file, parents before their children.

    Raises:
        DataError: the file cannot be read; a topic has no name, an unknown parent or a duplicate path; two topics list
            the same document. The error names file and line.
    """
    shown = shown_path(path)
    lines, values = read_toml(path, shown)
    top = Section("", values, shown, tuple(lines))
    top.only(("topic",))
    sections = sections_of(top, "topic", many=True)
    if not sections:
        raise DataError(shown, "has no [[topic]]; write at least one, with a name")
    topics: dict[str, tuple[Section, Topic]] = {}
    document_topics: dict[str, str] = {}
    for section in sections:
        topic = _topic(section)
        if topic.path in topics:
            raise section.error("name", f"two topics are {short_repr(topic.path)}; rename one")
        topics[topic.path] = (section, topic)
        for document in topic.documents:
            other = document_topics.setdefault(document, topic.path)
            if other != topic.path:
                problem = f"the document {short_repr(document)} is in {short_repr(other)}, too; list it once"
                raise section.error("documents", problem)
    for section, topic in topics.values():
        if topic.parent and topic.parent not in topics:
            others = [path for path in topics if not path.startswith(topic.parent + SEPARATOR)]
            hint = did_you_mean(topic.parent, others)
            raise section.error("parent", f"parent: no topic is {short_repr(topic.parent)}; {hint}")
    return TopicTree(tuple(sorted((topic for _, topic in topics.values()), key=_depth)))


def topics_text(tree: TopicTree, comments: Iterable[str] = ()) -> str:
    """Return topics as the text of a ``topics.toml``, which `read_topics` reads back unchanged.

    Args:
        tree: the topics.
        comments: lines of the comment at the top of the file.
    """
    lines = [f"# {_one_line(comment)}".rstrip() for comment in comments]
    for topic in tree:
        lines += ["", *_topic_lines(topic)]
    return "\n".join(lines).lstrip("\n") + "\n"


def _topic(section: Section) -> Topic:
    section.only(KEYS)
    name = section.text("name").strip()
    if SEPARATOR in name:
        problem = f"name: {short_repr(name)} holds {SEPARATOR!r}; name the part before it as parent"
        raise section.error("name", problem)
    keywords, documents = (
        [] if section.values.get(key) == [] else [*section.texts(key)] for key in ("keywords", "documents")
    )
    return Topic(name, section.text("parent", "").strip(), tuple(keywords), tuple(documents))


def _depth(topic: Topic) -> int:
    return topic.path.count(SEPARATOR)


def _topic_lines(topic: Topic) -> Iterator[str]:
    yield "[[topic]]"
    yield f"name = {_string(topic.name)}"
    if topic.parent:
        yield f"parent = {_string(topic.parent)}"
    yield f"keywords = [{', '.join(map(_string, topic.keywords))}]"
    if topic.documents:
        yield "documents = ["
        yield from (f"  {_string(document)}," for document in topic.documents)
        yield "]"


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _one_line(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)
