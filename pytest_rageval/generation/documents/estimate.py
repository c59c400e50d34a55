"""What a plan would read: documents, chunks and topics, for `--dry-run`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pytest_rageval.generation.material import Material
from pytest_rageval.generation.topics.chunk_topics import topics_of_chunks

__all__ = ["corpus_lines"]


def corpus_lines(material: Material) -> Iterator[str]:
    """Yield the number of documents and chunks, and the chunks of each topic."""
    if not material.chunks:
        return
    pages = {chunk.page or chunk.id for chunk in material.chunks}
    yield f"corpus: {len(pages):,} documents, {len(material.chunks):,} chunks"
    topics = Counter(topics_of_chunks(material).values())
    yield from (f"topic {path}: {count:,} chunks" for path, count in sorted(topics.items()))
    if material.without_topic:
        yield f"no topic: {len(material.without_topic):,} chunks"
