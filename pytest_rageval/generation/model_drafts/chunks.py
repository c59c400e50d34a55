"""The chunks that a model drafts from, with their topics and languages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_rageval.generation.material import Material
from pytest_rageval.model.case import Passage
from pytest_rageval.text.language import main_language

__all__ = ["NO_TOPIC", "Chunk", "chunks_of"]

NO_TOPIC = "chunks without a topic"
"""How chunks without a topic are counted in `Material.left_out`; nothing is drafted from them."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of a document.

    Attributes:
        passage: the passage.
        topic: the path of its topic; "" for none.
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
    """Return the chunks of a plan's documents, in the order of the corpus."""
    topics, wanted = _topics(material.corpus), material.plan.language
    return tuple(
        Chunk(each, topics.get(each.id, ""), wanted if wanted != "auto" else main_language(each.text, "en"))
        for each in material.corpus
    )


def _topics(passages: Sequence[Passage]) -> Mapping[str, str]:
    """Return chunk id -> topic: the metadata ``topic`` of its document, else the folders of the document's path."""
    return {each.id: _own_topic(each) for each in passages}


def _own_topic(passage: Passage) -> str:
    topic = passage.metadata.get("topic")
    if isinstance(topic, str) and topic.strip():
        return topic.strip()
    return "/".join((passage.page or passage.id).split("/")[:-1])
