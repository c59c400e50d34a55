"""From the files of a corpus to its passages, one at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from pytest_rageval.corpora.chunking import Chunking
from pytest_rageval.corpora.document import Document
from pytest_rageval.corpora.locating import EvidenceLocator
from pytest_rageval.corpora.places import Place
from pytest_rageval.datasets.source import shown_path
from pytest_rageval.errors import DataError, RagEvalError, SettingError, ascii_safe, found
from pytest_rageval.model.case import Passage

if TYPE_CHECKING:
    from pytest_rageval.corpora import Reader
    from pytest_rageval.registry import Registry

__all__ = ["passages"]


def passages(
    files: Iterable[Place], formats: Registry[Reader], chunking: Chunking, locator: EvidenceLocator | None = None
) -> Iterator[Passage]:
    """Yield the passages of a corpus, in the order of its files and lines; of what was yielded, only the ids are kept.

    Without chunking a passage has its document's id; else ``document#n``, from 0 on. As what stands behind the last
    ``#`` is the number, passages of two documents never share an id.
    The ``locator`` sees the documents that it wants.

    Raises:
        DataError: a record cannot be read, is empty, or has an id that another has.
    """
    files = tuple(files)
    seen: set[str] = set()
    for place, document in _documents(files, formats):
        where = document.where or shown_path(place.path)
        if document.id in seen:
            if document.shared:
                continue
            first, earlier = next(pair for pair in _documents(files, formats) if pair[1].id == document.id)
            there = earlier.where or shown_path(first.path)
            raise DataError(where, f"the id {found(document.id)} stands in {there} already, wanted each once")
        seen.add(document.id)
        if not document.text or document.text.isspace():
            raise DataError(where, "found no text, wanted a document that is not empty")
        if locator is not None and locator.wants(document):
            cut = tuple(_cut(document, chunking))
            locator.look(document, cut)
            yield from cut
        else:
            yield from _cut(document, chunking)


def _cut(document: Document, chunking: Chunking) -> Iterator[Passage]:
    title, page, metadata = document.title, document.page or document.id, document.metadata
    if chunking.unit == "none":
        yield Passage(document.id, document.text, title, page=page, metadata=metadata)
        return
    for number, (begin, end) in enumerate(chunking.spans(document.text)):
        text = document.text[begin:end]
        yield Passage(f"{document.id}#{number}", text, title, page=page, span=(begin, end), metadata=metadata)


def _documents(files: Iterable[Place], formats: Registry[Reader]) -> Iterator[tuple[Place, Document]]:
    for place in files:
        reader = formats.get(place.format)
        empty = True
        try:
            for document in reader(place.path, place.name):
                empty = False
                yield place, _checked(document, place)
        except RagEvalError:
            raise
        except Exception as error:  # of a user's own reader
            cause = f"{type(error).__name__}: {ascii_safe(str(error))}"
            problem = f"the reader of {place.format!r} failed on {shown_path(place.path)}: {cause}"
            raise SettingError(f"rag_corpus: {problem}") from error
        if empty:
            raise DataError(shown_path(place.path), "holds no document; it needs at least one")


def _checked(document: object, place: Place) -> Document:
    if isinstance(document, Document) and all(isinstance(t, str) for t in (document.id, document.text, document.title)):
        return document
    what = f"the reader of {place.format!r} gave {found(document)}"
    raise SettingError(f"rag_corpus: {what}, wanted Document(id, text, title) with texts")
