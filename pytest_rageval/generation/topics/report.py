"""Report the number of chunks per topic, and the chunks without a topic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.material import Material
from pytest_rageval.generation.split import Sets
from pytest_rageval.generation.topics.chunk_topics import topics_of_chunks

__all__ = ["topic_lines", "without_topic_section"]


def topic_lines(material: Material) -> Iterator[str]:
    """Yield a line per topic with its number of chunks, then a line for the chunks without a topic."""
    if not material.corpus:
        return
    topics = Counter(topics_of_chunks(material).values())
    yield from (f"topic {path}: {_chunks(count)}" for path, count in sorted(topics.items()))
    if material.without_topic:
        yield f"no topic: {_chunks(len(material.without_topic))}"


def without_topic_section(material: Material, drafts: Sequence[Draft], sets: Sets) -> Iterator[str]:
    """Yield a section that lists the chunks without a topic; nothing if every chunk has one."""
    from pytest_rageval.generation.output.report import markdown_cell

    if material.without_topic:
        yield from ("## Chunks without a topic", "", "They make no case. List their documents in topics.toml.", "")
        yield from (f"- {markdown_cell(chunk)}" for chunk in material.without_topic)


def _chunks(count: int) -> str:
    return f"{count:,} chunk{'s' if count != 1 else ''}"
