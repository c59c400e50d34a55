"""List the chunks without a topic in the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.material import Material
from pytest_rageval.generation.split import Sets

__all__ = ["without_topic_section"]


def without_topic_section(material: Material, drafts: Sequence[Draft], sets: Sets) -> Iterator[str]:
    """Yield the ids of the chunks without a topic; nothing if there are none."""
    from pytest_rageval.generation.output.report import markdown_cell

    if material.without_topic:
        yield from ("## Chunks without a topic", "", "They make no case. List their documents in topics.toml.", "")
        yield from (f"- {markdown_cell(chunk)}" for chunk in material.without_topic)
