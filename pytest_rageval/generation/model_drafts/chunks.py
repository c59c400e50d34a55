"""Chunks of documents, with their topics and languages, from which a model drafts cases."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_rageval.generation.material import Material
from pytest_rageval.generation.topics.chunk_topics import topics_of_chunks
from pytest_rageval.model.case import Passage
from pytest_rageval.text.language import main_language

__all__ = ["Chunk", "chunks_of"]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of a document, with its topic.

    Attributes:
        passage: the passage.
        topic: the path of its topic.
        language: ``en`` or ``zh``.
    """

    passage: Passage
    topic: str
    language: str

    @property
    def document(self) -> str:
        """The id of its document."""
        return self.passage.page or self.passage.id


def chunks_of(material: Material) -> tuple[Chunk, ...]:
    """Return the chunks of a plan's documents that have a topic, in the order of the corpus."""
    topics, language_setting = topics_of_chunks(material), material.plan.language
    return tuple(
        Chunk(each, topics[each.id], language_setting if language_setting != "auto" else main_language(each.text, "en"))
        for each in material.corpus
        if each.id in topics
    )
