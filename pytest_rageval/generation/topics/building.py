"""Make topics without a model: from metadata, folders, headings, else keyphrases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, sqrt

from pytest_rageval.generation.topics.documents import TopicDocument, documents_of
from pytest_rageval.generation.topics.keyphrases import Weights, clusters, top_terms, weights_of
from pytest_rageval.generation.topics.topic import SEPARATOR, Topic, TopicTree
from pytest_rageval.model.case import Passage

__all__ = ["LEAVES", "Built", "built_topics"]

LEAVES = 30
"""The most topics that headings or keyphrases make."""

KEYWORDS = 8
_LANGUAGES = frozenset({"en", "en-gb", "en-us", "zh", "zh-cn", "zh-hans", "zh-hant", "zh-tw"})
"""Folders that name a language; they are no topics."""


@dataclass(frozen=True, slots=True)
class Built:
    """Topics, and how they were made.

    Attributes:
        tree: the topics; each lists its documents.
        ways: what made a document's topic -> number of documents: ``metadata``, ``folders``, ``first heading``,
            ``keyphrases``.
        without: ids of the documents without a topic.
        merged: number of topics that merged into their parents.
    """

    tree: TopicTree
    ways: Mapping[str, int]
    without: tuple[str, ...] = ()
    merged: int = 0
    keyphrases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def built_topics(chunks: Sequence[Passage], depth: int = 2, min_documents: int = 3) -> Built:
    """Return the topics of the documents of some chunks.

    The topic of a document is its metadata ``topic`` (``A/B`` is a topic B under A); else the folders of its path that
    not all documents share; else its first heading, unless there are more than 30 of them; else that of its
    keyphrases. A topic with fewer than ``min_documents`` merges into its parent; the topmost ones stay.

    Args:
        chunks: the chunks; those of one page are one document.
        depth: number of levels, 1 or more.
        min_documents: the fewest documents of a topic under another.
    """
    documents = documents_of(chunks)
    weights = weights_of([document.text for document in documents])
    paths, ways = _named(documents, depth)
    phrases: dict[str, tuple[str, ...]] = {}
    unnamed = [at for at, document in enumerate(documents) if document.id not in paths]
    if unnamed:
        by_phrases, phrases = _by_keyphrases(documents, weights, unnamed, depth, min_documents)
        paths.update(by_phrases)
        ways.update(dict.fromkeys(by_phrases, "keyphrases"))
    merged = _merge_small(paths, min_documents)
    without = tuple(document.id for document in documents if document.id not in paths)
    tree = _tree(paths, documents, weights, phrases)
    return Built(tree, Counter(ways.values()), without, merged, phrases)


def _named(documents: Sequence[TopicDocument], depth: int) -> tuple[dict[str, str], dict[str, str]]:
    """Return the topics that metadata, folders and headings give, by document, and what gave them."""
    paths: dict[str, str] = {}
    ways: dict[str, str] = {}
    shared = _shared_folders([each.folders for each in documents if not each.topic])
    headed: dict[str, str] = {}
    for document in documents:
        folders = [name for name in document.folders[shared:] if name.casefold() not in _LANGUAGES]
        parts = _parts(document.topic) if document.topic else folders
        if parts:
            paths[document.id] = SEPARATOR.join(parts[:depth])
            ways[document.id] = "metadata" if document.topic else "folders"
        elif document.heading:
            headed[document.id] = " ".join(document.heading.replace(SEPARATOR, "-").split())
    if len(set(headed.values())) <= LEAVES:
        paths.update(headed)
        ways.update(dict.fromkeys(headed, "first heading"))
    return paths, ways


def _parts(topic: str) -> list[str]:
    return [part.strip() for part in topic.split(SEPARATOR) if part.strip()]


def _shared_folders(folders: Sequence[Sequence[str]]) -> int:
    """Return how many of the first folders all documents share."""
    if not folders:
        return 0
    count = 0
    for level in zip(*folders, strict=False):
        if len(set(level)) > 1:
            break
        count += 1
    return count


def _by_keyphrases(
    documents: Sequence[TopicDocument], weights: Weights, places: Sequence[int], depth: int, min_documents: int
) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """Return the topics of documents by their keyphrases, and the phrases of each topic."""
    own = Weights(tuple(weights.documents[at] for at in places))
    leaves = min(LEAVES, max(1, len(places) // min_documents))
    groups = clusters(own, leaves, ceil(sqrt(leaves)) if depth > 1 else leaves)
    phrases: dict[str, tuple[str, ...]] = {}
    for inner in groups:
        parent = ", ".join(group[0] for group in inner[:2]) + SEPARATOR if len(inner) > 1 and depth > 1 else ""
        for group in inner:
            phrases[parent + group[0]] = tuple(group)
    topic_of = {phrase: path for path, members in phrases.items() for phrase in members}
    paths = {}
    for at, document in zip(places, own.documents, strict=True):
        total: Counter[str] = Counter()
        for term, weight in document.items():
            if term in topic_of:
                total[topic_of[term]] += weight  # type: ignore[assignment] # weights are fractions
        best = total.most_common(2)
        if best and (len(best) == 1 or best[0][1] > best[1][1]):
            paths[documents[at].id] = best[0][0]
    return paths, phrases


def _merge_small(paths: dict[str, str], min_documents: int) -> int:
    """Move the documents of small topics to the parents, in place; return the number of these topics."""
    merged = 0
    while True:
        sizes = Counter(paths.values())
        inner = [path for path in sizes if SEPARATOR in path and sizes[path] < min_documents]
        deepest = max((path.count(SEPARATOR) for path in inner), default=0)
        small = {path for path in inner if path.count(SEPARATOR) == deepest}
        if not small:
            return merged
        merged += len(small)
        for document, path in paths.items():
            if path in small:
                paths[document] = path.rpartition(SEPARATOR)[0]


def _tree(
    paths: Mapping[str, str],
    documents: Sequence[TopicDocument],
    weights: Weights,
    phrases: Mapping[str, tuple[str, ...]],
) -> TopicTree:
    """Return the topics of the documents, each with its keywords; parents without documents have none."""
    places: dict[str, list[int]] = {}
    for at, document in enumerate(documents):
        if document.id in paths:
            places.setdefault(paths[document.id], []).append(at)
    topics: dict[str, Topic] = {}
    for path in sorted(places):
        parent, _, name = path.rpartition(SEPARATOR)
        names = path.split(SEPARATOR)
        for level in range(1, len(names)):
            above = SEPARATOR.join(names[:level])
            topics.setdefault(above, Topic(names[level - 1], SEPARATOR.join(names[: level - 1])))
        own = phrases.get(path, ())[:KEYWORDS] or top_terms(weights, places[path], KEYWORDS)
        listed = tuple(documents[at].id for at in places[path])
        topic = topics.get(path, Topic(name, parent))
        topics[path] = replace(topic, keywords=own, documents=listed)
    return TopicTree(tuple(sorted(topics.values(), key=lambda topic: (topic.path.count(SEPARATOR), topic.path))))
