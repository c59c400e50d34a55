"""Build topics without a model: from metadata, folders, first headings or keyphrases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, sqrt

from pytest_rageval.generation.topics.documents import TopicDocument, documents_of
from pytest_rageval.generation.topics.keyphrases import Weights, clusters, top_terms, weights_of
from pytest_rageval.generation.topics.topic import SEPARATOR, Topic, TopicTree
from pytest_rageval.model.case import Passage

__all__ = ["LEAVES", "BuiltTopics", "build_topics"]

LEAVES = 30
"""Largest number of topics built from headings or keyphrases."""

KEYWORDS = 8
_LANGUAGES = frozenset({"en", "en-gb", "en-us", "zh", "zh-cn", "zh-hans", "zh-hant", "zh-tw"})
"""Folder names that are languages, not topics."""


@dataclass(frozen=True, slots=True)
class BuiltTopics:
    """Topics and how they were built.

    Attributes:
        tree: the topics; each lists its documents.
        ways: origin of a document's topic -> number of documents; the origin is ``metadata``, ``folders``,
            ``first heading`` or ``keyphrases``.
        without_topic: ids of the documents without a topic.
        merged: number of topics that merged into their parents.
        keyphrases: path of a topic -> its keyphrases; only for topics built from keyphrases.
    """

    tree: TopicTree
    ways: Mapping[str, int]
    without_topic: tuple[str, ...] = ()
    merged: int = 0
    keyphrases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def build_topics(chunks: Sequence[Passage], depth: int = 2, min_documents: int = 3) -> BuiltTopics:
    """Build the topics of the documents that some chunks belong to.

    The topic of a document comes from the first of these that it has:

    1. its metadata ``topic`` (``A/B`` is a topic B under A);
    2. the folders of its path, without those that all documents share;
    3. its first heading, unless the documents have more than 30 different ones;
    4. its keyphrases.

    A topic with fewer than ``min_documents`` documents merges into its parent; a topic without a parent stays.

    Args:
        chunks: the chunks; chunks of the same page are one document.
        depth: number of topic levels, 1 or more.
        min_documents: smallest number of documents of a topic that has a parent.
    """
    documents = documents_of(chunks)
    weights = weights_of([document.text for document in documents])
    paths, ways = _paths_by_name(documents, depth)
    phrases: dict[str, tuple[str, ...]] = {}
    unnamed = [at for at, document in enumerate(documents) if document.id not in paths]
    if unnamed:
        by_phrases, phrases = _paths_by_keyphrases(documents, weights, unnamed, depth, min_documents)
        paths.update(by_phrases)
        ways.update(dict.fromkeys(by_phrases, "keyphrases"))
    merged = _merge_small(paths, min_documents)
    without_topic = tuple(document.id for document in documents if document.id not in paths)
    tree = _tree(paths, documents, weights, phrases)
    return BuiltTopics(tree, Counter(ways.values()), without_topic, merged, phrases)


def _paths_by_name(documents: Sequence[TopicDocument], depth: int) -> tuple[dict[str, str], dict[str, str]]:
    """Return document -> topic path from metadata, folders or headings, and document -> which of them."""
    paths: dict[str, str] = {}
    ways: dict[str, str] = {}
    shared = _shared_folders([each.folders for each in documents if not each.topic])
    by_heading: dict[str, str] = {}
    for document in documents:
        folders = [name for name in document.folders[shared:] if name.casefold() not in _LANGUAGES]
        parts = _parts(document.topic) if document.topic else folders
        if parts:
            paths[document.id] = SEPARATOR.join(parts[:depth])
            ways[document.id] = "metadata" if document.topic else "folders"
        elif document.heading:
            by_heading[document.id] = " ".join(document.heading.replace(SEPARATOR, "-").split())
    if len(set(by_heading.values())) <= LEAVES:
        paths.update(by_heading)
        ways.update(dict.fromkeys(by_heading, "first heading"))
    return paths, ways


def _parts(topic: str) -> list[str]:
    return [part.strip() for part in topic.split(SEPARATOR) if part.strip()]


def _shared_folders(folders: Sequence[Sequence[str]]) -> int:
    """Return how many leading folders all documents share."""
    if not folders:
        return 0
    count = 0
    for level in zip(*folders, strict=False):
        if len(set(level)) > 1:
            break
        count += 1
    return count


def _paths_by_keyphrases(
    documents: Sequence[TopicDocument], weights: Weights, places: Sequence[int], depth: int, min_documents: int
) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """Return document -> topic path from keyphrases, and topic path -> its keyphrases."""
    selected = Weights(tuple(weights.documents[at] for at in places))
    leaves = min(LEAVES, max(1, len(places) // min_documents))
    groups = clusters(selected, leaves, ceil(sqrt(leaves)) if depth > 1 else leaves)
    phrases: dict[str, tuple[str, ...]] = {}
    for inner in groups:
        parent = ", ".join(group[0] for group in inner[:2]) + SEPARATOR if len(inner) > 1 and depth > 1 else ""
        for group in inner:
            phrases[parent + group[0]] = tuple(group)
    topic_of = {phrase: path for path, members in phrases.items() for phrase in members}
    paths = {}
    for at, document in zip(places, selected.documents, strict=True):
        total: Counter[str] = Counter()
        for term, weight in document.items():
            if term in topic_of:
                total[topic_of[term]] += weight  # type: ignore[assignment] # weights are fractions
        best = total.most_common(2)
        if best and (len(best) == 1 or best[0][1] > best[1][1]):
            paths[documents[at].id] = best[0][0]
    return paths, phrases


def _merge_small(paths: dict[str, str], min_documents: int) -> int:
    """Move the documents of small topics to their parents, in place; return the number of merged topics."""
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
    """Return the tree of topics; a topic with documents gets keywords, a parent without documents gets none."""
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
        keywords = phrases.get(path, ())[:KEYWORDS] or top_terms(weights, places[path], KEYWORDS)
        document_ids = tuple(documents[at].id for at in places[path])
        topic = topics.get(path, Topic(name, parent))
        topics[path] = replace(topic, keywords=keywords, documents=document_ids)
    return TopicTree(tuple(sorted(topics.values(), key=lambda topic: (topic.path.count(SEPARATOR), topic.path))))
