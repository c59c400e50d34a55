"""The topic of each chunk of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING

from pytest_rageval.errors import MissingDependencyError
from pytest_rageval.generation.material import Material
from pytest_rageval.generation.topics.building import built_topics
from pytest_rageval.generation.topics.classification import classified
from pytest_rageval.generation.topics.topic_settings import TopicSettings, topic_settings
from pytest_rageval.generation.topics.topics_file import read_topics

if TYPE_CHECKING:
    from pytest_rageval.retrieval.encoder import Encoder

__all__ = ["NO_TOPIC", "topics_of_chunks"]

NO_TOPIC = "chunks without a topic"


def topics_of_chunks(material: Material) -> Mapping[str, str]:
    """Return the path of the topic of each chunk that has one; count and list the others.

    The topics are those of the plan's file, else made from the documents.

    Raises:
        DataError: the file of topics is invalid.
    """
    if material.topics is not None:
        return material.topics
    settings = topic_settings(material.plan)
    if settings.file is not None:
        tree = read_topics(settings.file)
    else:
        tree = built_topics(material.corpus, min_documents=settings.min_documents).tree
    found = classified(material.corpus, tree, _encoder(settings))
    if found.without:
        material.left_out[NO_TOPIC] = len(found.without)
    material.topics, material.without_topic = found.topics, found.without
    pages = {chunk.page or chunk.id for chunk in material.corpus}
    missing = [document for document in tree.of_documents if document not in pages]
    if missing and settings.file is not None:
        listed = ", ".join(missing[:3]) + (", ..." if len(missing) > 3 else "")
        count = "1 document is" if len(missing) == 1 else f"{len(missing):,} documents are"
        material.warnings.append(f"{settings.file.name}: {count} not in the corpus: {listed}")
    return found.topics


def _encoder(settings: TopicSettings) -> Encoder | None:
    """Return the model of vectors that the plan names; None for BM25."""
    if not settings.embedder:
        return None
    if find_spec("sentence_transformers") is None:
        raise MissingDependencyError("[topics] embedder", "dense")
    from pytest_rageval.retrieval.encoder import SentenceEncoder

    return SentenceEncoder(settings.embedder, "model", "cpu", 32, retriever="")
