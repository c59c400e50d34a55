"""Read the files of a corpus and yield its passages, one at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from pytest_rageval.corpora.chunking import Chunking
from pytest_rageval.corpora.document import Document
from pytest_rageval.corpora.locating import EvidenceLocator
from pytest_rageval.corpora.places import Place
from pytest_rageval.datasets.source import shown_path
from pytest_rageval.errors import DataError, RagEvalError, SettingError, ascii_safe, short_repr
from pytest_rageval.model.case import Passage

if TYPE_CHECKING:
    from pytest_rageval.corpora import Reader
    from pytest_rageval.registry import Registry

__all__ = ["passages"]


def passages(
    files: Iterable[Place], formats: Registry[Reader], chunking: Chunking, locator: EvidenceLocator | None = None
) -> Iterator[Passage]:
    """Yield the passages of a corpus in the order of files and lines; only ids stay in memory.

    Without chunking, a passage has the id of its document. With chunking, it has the id ``document#n``, with n from 0;
    n follows the last ``#``, so passages of different documents never share an id. The ``locator`` searches the
    documents that evidence refers to.

    Raises:
        DataError: a record is unreadable or empty, or its id is a duplicate.
    """
    files = tuple(files)
    ids: set[str] = set()
    for place, document in _documents(files, formats):
        where = document.where or shown_path(place.path)
        if document.id in ids:
            if document.shared:
                continue
            first, earlier = next(pair for pair in _documents(files, formats) if pair[1].id == document.id)
            first_where = earlier.where or shown_path(first.path)
            raise DataError(
                where, f"duplicate id {short_repr(document.id)}, first used in {first_where}", code="RAG203"
            )
        ids.add(document.id)
        if not document.text or document.text.isspace():
            raise DataError(where, "the document has no text; add a text or remove the document")
        if locator is not None and locator.wants(document):
            chunks = tuple(_chunk(document, chunking))
            locator.look(document, chunks)
            yield from chunks
        else:
            yield from _chunk(document, chunking)


def _chunk(document: Document, chunking: Chunking) -> Iterator[Passage]:
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
                yield place, _check(document, place)
        except RagEvalError:
            raise
        except Exception as error:  # a user's reader may raise anything
            cause = f"{type(error).__name__}: {ascii_safe(str(error))}"
            problem = f"the reader of {place.format!r} failed on {shown_path(place.path)}: {cause}"
            raise SettingError(f"rag_corpus: {problem}") from error
        if empty:
            raise DataError(shown_path(place.path), "has no document; it needs at least one")


def _check(document: object, place: Place) -> Document:
    if isinstance(document, Document) and all(isinstance(t, str) for t in (document.id, document.text, document.title)):
        return document
    what = f"the reader of {place.format!r} yielded {short_repr(document)}"
    raise SettingError(f"rag_corpus: {what}, wanted Document(id, text, title) with strings")
