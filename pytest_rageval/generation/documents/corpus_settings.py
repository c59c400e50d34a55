"""The ``[[corpus]]`` of a plan: which files are read, and how they are cut into chunks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import cast

from pytest_rageval.corpora.chunking import Chunking, parse_chunking
from pytest_rageval.errors import SettingError
from pytest_rageval.generation.plan import Part, Plan
from pytest_rageval.generation.section import Section

__all__ = ["PART", "CorpusSettings", "corpus_settings"]

KEYS = ("chunking", "path")


@dataclass(frozen=True, slots=True)
class CorpusSettings:
    """One ``[[corpus]]``.

    Attributes:
        section: the table of the plan, for messages.
        path: a path or a glob as a line of ``rag_corpus``, with an optional ``format:``; relative to the plan.
        chunking: how a document is cut into passages.
    """

    section: Section
    path: str
    chunking: Chunking


def corpus_settings(plan: Plan) -> tuple[CorpusSettings, ...]:
    """Return each ``[[corpus]]`` of a plan."""
    return cast("tuple[CorpusSettings, ...]", plan.parts["corpus"])


def _read(sections: tuple[Section, ...], folder: Path) -> tuple[CorpusSettings, ...]:
    settings = []
    for section in sections:
        section.only(KEYS)
        settings.append(CorpusSettings(section, section.text("path"), _chunking(section)))
    return tuple(settings)


def _chunking(section: Section) -> Chunking:
    try:
        return parse_chunking(section.text("chunking", "sections"))
    except SettingError as error:
        raise section.error("chunking", str(error).replace("rag_chunking", "chunking")) from None


PART = Part(many=True, read=_read)
