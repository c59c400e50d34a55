"""Read the documents of a plan and cut them into chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from pytest_rageval.corpora import BUILTIN, Reader
from pytest_rageval.corpora.places import Place, places
from pytest_rageval.corpora.reading import passages
from pytest_rageval.errors import DataError, SettingError, short_repr
from pytest_rageval.generation.documents.corpus_settings import CorpusSettings, corpus_settings
from pytest_rageval.generation.plan import Plan
from pytest_rageval.model.case import Passage
from pytest_rageval.registry import Registry

__all__ = ["corpus_files", "load_chunks"]

T = TypeVar("T")


def load_chunks(plan: Plan) -> tuple[Passage, ...]:
    """Return the chunks of all ``[[corpus]]`` of a plan, in the order of the plan, the files and the text.

    Raises:
        DataError: a path matches no file, a document is invalid, or two chunks have one id.
    """
    chunks: dict[str, Passage] = {}
    for settings in corpus_settings(plan):
        files = _files(settings, plan)
        for chunk in passages(files, _formats(), settings.chunking):
            if chunk.id in chunks:
                problem = f"path: {short_repr(chunk.id)} is in two [[corpus]]; read each document once"
                raise settings.section.error("path", problem)
            chunks[chunk.id] = chunk
    return tuple(chunks.values())


def corpus_files(plan: Plan) -> Iterator[Place]:
    """Yield the files of all ``[[corpus]]`` of a plan.

    Raises:
        DataError: a path matches no file, or its format is unknown.
    """
    for settings in corpus_settings(plan):
        yield from (place for place in _files(settings, plan) if place.path.is_file())


def _files(settings: CorpusSettings, plan: Plan) -> tuple[Place, ...]:
    return _in_plan(settings, lambda: tuple(places((settings.path,), plan.folder.resolve(), _formats())))


def _in_plan(settings: CorpusSettings, resolve: Callable[[], T]) -> T:
    """Return the result of ``resolve``; its errors name the line of the plan instead of the ini setting."""
    try:
        return resolve()
    except DataError as error:
        raise settings.section.error("path", f"path: {error.problem}") from None
    except SettingError as error:
        raise settings.section.error("path", str(error).replace("rag_corpus", "path", 1)) from None


def _formats() -> Registry[Reader]:
    formats: Registry[Reader] = Registry("corpus format", BUILTIN)
    return formats
