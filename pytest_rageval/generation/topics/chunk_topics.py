"""Assign a topic to each chunk of a generation plan."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING

from pytest_rageval.errors import MissingDependencyError
from pytest_rageval.generation.material import Material
from pytest_rageval.generation.topics.building import build_topics
from pytest_rageval.generation.topics.classification import classify
from pytest_rageval.generation.topics.topic_settings import TopicSettings, topic_settings
from pytest_rageval.generation.topics.topics_file import read_topics

if TYPE_CHECKING:
    from pytest_rageval.retrieval.encoder import Encoder

__all__ = ["NO_TOPIC", "topics_of_chunks"]

NO_TOPIC = "chunks without a topic"


def topics_of_chunks(material: Material) -> Mapping[str, str]:
    """Return chunk id -> topic path, and record the chunks without a topic in the material.

    The topics come from the file that the plan names; without a file, they are built from the documents.

    Raises:
        DataError: the topics file is invalid.
    """
    if material.topics is not None:
        return material.topics
    settings = topic_settings(material.plan)
    if settings.file is not None:
        tree = read_topics(settings.file)
    else:
        tree = build_topics(material.corpus, min_documents=settings.min_documents).tree
    classification = classify(material.corpus, tree, _encoder(settings))
    if classification.without_topic:
        material.left_out[NO_TOPIC] = len(classification.without_topic)
    material.topics, material.without_topic = classification.topics, classification.without_topic
    pages = {chunk.page or chunk.id for chunk in material.corpus}
    missing = [document for document in tree.of_documents if document not in pages]
    if missing and settings.file is not None:
        examples = ", ".join(missing[:3]) + (", ..." if len(missing) > 3 else "")
        count = "1 document is" if len(missing) == 1 else f"{len(missing):,} documents are"
        material.warnings.append(f"{settings.file.name}: {count} not in the corpus: {examples}")
    return classification.topics


def _encoder(settings: TopicSettings) -> Encoder | None:
    """Return the embedding model that the plan names; None for BM25."""
    if not settings.embedder:
        return None
    if find_spec("sentence_transformers") is None:
        raise MissingDependencyError("[topics] embedder", "dense")
    from pytest_rageval.retrieval.encoder import SentenceEncoder

    return SentenceEncoder(settings.embedder, "model", "cpu", 32, retriever="")
