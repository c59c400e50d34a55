"""The ``[topics]`` of a plan: the file of topics, or how to make them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import cast

from pytest_rageval.generation.plan import Plan, SectionReader
from pytest_rageval.generation.section import Section

__all__ = ["READER", "TopicSettings", "topic_settings"]

KEYS = ("embedder", "file", "min_documents")


@dataclass(frozen=True, slots=True)
class TopicSettings:
    """The ``[topics]`` of a plan.

    Attributes:
        file: the file of topics; None to make them from the documents.
        min_documents: a topic with fewer documents merges into its parent.
        embedder: the folder or name of a model of sentence-transformers that compares chunks with names of topics; ""
            for BM25 over names and keywords.
        section: the table of the plan; None if the plan has none.
    """

    file: Path | None = None
    min_documents: int = 3
    embedder: str = ""
    section: Section | None = None


def topic_settings(plan: Plan) -> TopicSettings:
    """Return the ``[topics]`` of a plan."""
    return cast("TopicSettings", plan.settings["topics"])


def _read(sections: tuple[Section, ...], folder: Path) -> TopicSettings:
    if not sections:
        return TopicSettings()
    (section,) = sections
    section.only(KEYS)
    file = folder / section.text("file") if "file" in section else None
    if file is not None and not file.is_file():
        problem = f"file: no file {section.text('file')!r}; write it with rageval generate topics, or correct the path"
        raise section.error("file", problem)
    return TopicSettings(file, section.whole("min_documents", 3, least=1) or 3, section.text("embedder", ""), section)


READER = SectionReader(many=False, read=_read)
