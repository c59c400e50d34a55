"""Read the ``[[corpus]]`` of a plan: documents, and how to split them into passages."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import cast

from pytest_rageval import corpora
from pytest_rageval.corpora import Reader
from pytest_rageval.corpora.chunking import Chunking, parse_chunking
from pytest_rageval.corpora.places import Place, places
from pytest_rageval.corpora.reading import passages
from pytest_rageval.datasets.source import read_bytes
from pytest_rageval.errors import RagEvalError, SettingError, short_repr
from pytest_rageval.generation.plan import Plan, SectionReader
from pytest_rageval.generation.section import Section
from pytest_rageval.model.case import Passage
from pytest_rageval.registry import Registry

__all__ = ["READER", "CorpusSettings", "corpus_digests", "corpus_passages", "corpus_settings", "without_files"]


@dataclass(frozen=True, slots=True)
class CorpusSettings:
    """One ``[[corpus]]``.

    Attributes:
        section: the table of the plan, for messages.
        files: the files.
        chunking: how to split documents into passages.
    """

    section: Section
    files: tuple[Place, ...]
    chunking: Chunking


def corpus_settings(plan: Plan) -> tuple[CorpusSettings, ...]:
    """Return each ``[[corpus]]`` of a plan."""
    return cast("tuple[CorpusSettings, ...]", plan.settings["corpus"])


def without_files(plan: Plan, folder: Path, names: Collection[str]) -> Plan:
    """Return the plan without documents that are files with these names in a folder, such as its own output."""
    folder = folder.resolve()

    def is_other(place: Place) -> bool:
        return place.path.name not in names or place.path.resolve().parent != folder

    corpora_of_plan = tuple(replace(each, files=tuple(filter(is_other, each.files))) for each in corpus_settings(plan))
    return replace(plan, settings=MappingProxyType({**plan.settings, "corpus": corpora_of_plan}))


def corpus_passages(plan: Plan) -> Iterator[Passage]:
    """Yield the passages of all documents of a plan, in the order of the plan and of the files.

    Raises:
        DataError: a file cannot be read, or two passages have one id.
    """
    ids: set[str] = set()
    for settings in corpus_settings(plan):
        for passage in passages(settings.files, _formats(), settings.chunking):
            if passage.id in ids:
                problem = f"path: another [[corpus]] has the document {short_repr(passage.page or passage.id)}, too"
                raise settings.section.error("path", f"{problem}; name each file once")
            ids.add(passage.id)
            yield passage


def corpus_digests(plan: Plan) -> dict[str, str]:
    """Return the sha256 of each file, by its path from the plan's folder."""
    files = [place.path for settings in corpus_settings(plan) for place in settings.files if place.path.is_file()]
    return {_relative(path, plan.folder): hashlib.sha256(read_bytes(path)).hexdigest() for path in files}


def _relative(path: Path, folder: Path) -> str:
    return Path(os.path.relpath(path, folder)).as_posix()


def _formats() -> Registry[Reader]:
    return Registry("corpus format", corpora.BUILTIN)


def _read(sections: tuple[Section, ...], folder: Path) -> tuple[CorpusSettings, ...]:
    return tuple(_settings(section, folder) for section in sections)


def _settings(section: Section, folder: Path) -> CorpusSettings:
    section.only(("chunking", "path"))
    try:
        files = tuple(places((section.text("path"),), folder.absolute(), _formats()))
    except RagEvalError as error:
        raise section.error("path", str(error).replace("rag_corpus", "path")) from None
    try:
        chunking = parse_chunking(section.text("chunking", "none"))
    except SettingError as error:
        raise section.error("chunking", str(error).replace("rag_chunking", "chunking")) from None
    return CorpusSettings(section, files, chunking)


READER = SectionReader(many=True, read=_read)
