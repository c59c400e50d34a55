"""Locate evidence in the documents of a corpus while the corpus is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from pytest_rageval.corpora.document import Document
from pytest_rageval.errors import DataError, short_repr
from pytest_rageval.model.case import Instance, Passage
from pytest_rageval.model.evidence import Chunk, EvidencePlace, EvidenceUnit, LocatedEvidence
from pytest_rageval.model.ranking import page_of
from pytest_rageval.text.folding import FoldedText, fold_compact, fold_with_offsets

__all__ = ["EvidenceLocator", "located_in", "names_of"]

QUOTE_LENGTH = 60
"""Largest number of characters of a quote in a message."""


class EvidenceLocator:
    """Finds evidence in the documents of a corpus.

    A quote is compared after folding (NFKC, case folding, no white space), and every occurrence is a place. It is
    searched in the document whose id is the quote's page, and in all documents of that page. A span is one place in
    the document whose id is the span's page. Other documents are skipped.

    Args:
        instances: the records with the evidence.
    """

    def __init__(self, instances: Iterable[Instance]) -> None:
        self._units: dict[str, dict[EvidenceUnit, str]] = {}
        self._places: dict[EvidenceUnit, list[EvidencePlace]] = {}
        self._chunks: dict[str, Chunk] = {}
        self._bad_spans: dict[EvidenceUnit, str] = {}
        self._pages: set[str] = set()
        self._example = ""
        for instance in instances:
            for unit in (unit for alternative in instance.evidence for unit in alternative):
                self._units.setdefault(unit.page, {}).setdefault(unit, instance.origin)

    def wants(self, document: Document) -> bool:
        """Return whether evidence refers to the document or its page."""
        self._example = self._example or document.page or document.id
        return document.id in self._units or document.page in self._units

    def look(self, document: Document, passages: Iterable[Passage]) -> None:
        """Search a document for evidence and store its passages."""
        folded = fold_with_offsets(document.text)
        for page in dict.fromkeys((document.id, document.page)):  # not a set: its order would depend on the hash seed
            if page not in self._units:
                continue
            self._pages.add(page)
            for unit in self._units[page]:
                places = (
                    self._find_quote(unit, document, folded) if unit.span is None else self._find_span(unit, document)
                )
                self._places.setdefault(unit, []).extend(places)
        for passage in passages:
            span = passage.span or (0, len(passage.text))
            self._chunks[passage.id] = Chunk(document.id, span, passage.text)

    def check(self) -> None:
        """Raise a `DataError` for a span outside its document or with white space only."""
        for unit, problem in self._bad_spans.items():
            raise DataError(self._units[unit.page][unit], problem)

    def located(self, holds: Callable[[str], bool]) -> LocatedEvidence:
        """Return the located evidence; see `LocatedEvidence` for ``holds``."""
        places: Mapping[EvidenceUnit, tuple[EvidencePlace, ...]] = {
            unit: tuple(places) for unit, places in self._places.items() if places
        }
        return LocatedEvidence(places, self._chunks, holds)

    def has_whole(self, instance: Instance) -> bool:
        """Return whether the corpus contains all units of at least one alternative of a record's evidence."""
        return any(all(self._places.get(unit) for unit in alternative) for alternative in instance.evidence)

    def missing(self, instance: Instance) -> Iterator[tuple[EvidenceUnit, str]]:
        """Yield the record's evidence units that are missing in the corpus, each with the problem as a sentence."""
        for unit in dict.fromkeys(unit for alternative in instance.evidence for unit in alternative):
            if self._places.get(unit):
                continue
            if unit in self._bad_spans:
                yield unit, self._bad_spans[unit]
            elif unit.page not in self._pages:
                problem = f"the corpus has no document {short_repr(unit.page)}, the page of its evidence"
                yield unit, f"{problem}; its ids look like {short_repr(self._example)}" if self._example else problem
            else:
                what = (
                    f"quote {short_repr(unit.quote, QUOTE_LENGTH)}" if unit.span is None else f"span {list(unit.span)}"
                )
                yield unit, f"the {what} of its evidence is not in the document {short_repr(unit.page)}"

    def _find_quote(self, unit: EvidenceUnit, document: Document, folded: FoldedText) -> Iterator[EvidencePlace]:
        for begin, end in folded.find(fold_compact(unit.quote)):
            yield EvidencePlace(document.id, (begin, end), document.text[begin:end])

    def _find_span(self, unit: EvidenceUnit, document: Document) -> Iterator[EvidencePlace]:
        if unit.span is None or document.id != unit.page:
            return
        begin, end = unit.span
        text, length = document.text[begin:end], len(document.text)
        if end <= length and not text.isspace():
            yield EvidencePlace(document.id, unit.span, text)
            return
        of = f"the document {short_repr(unit.page)}"
        what = f"is outside {of}, which has {length} code points" if end > length else f"has only white space in {of}"
        self._bad_spans[unit] = f"the span {list(unit.span)} of its evidence {what}; correct the span"


def located_in(passages: Sequence[Passage], instances: Iterable[Instance]) -> LocatedEvidence:
    """Locate the records' evidence in passages, for a corpus without readable documents.

    A passage without a span is a document. Passages with spans are joined to one document per page.
    """
    locator = EvidenceLocator(instances)
    chunks_by_page: dict[str, list[Passage]] = {}
    for passage in passages:
        page = passage.page or page_of(passage.id)
        if passage.span is not None and passage.span[1] - passage.span[0] == len(passage.text):
            chunks_by_page.setdefault(page, []).append(passage)
            continue
        document = Document(passage.id, passage.text, page=page)
        if locator.wants(document):
            locator.look(document, [replace(passage, span=None)])
    for page, chunks in chunks_by_page.items():
        document = Document(page, _join(chunks))
        if locator.wants(document):
            locator.look(document, chunks)
    return locator.located(names_of(passages).__contains__)


def names_of(passages: Iterable[Passage]) -> frozenset[str]:
    """Return the ids and pages of passages."""
    return frozenset(name for passage in passages for name in (passage.id, passage.page or page_of(passage.id)))


def _join(chunks: Sequence[Passage]) -> str:
    """Join chunks to the text of their document; gaps between chunks become blanks."""
    characters: list[str] = []
    for chunk in chunks:
        begin, end = chunk.span or (0, 0)
        characters += " " * (end - len(characters))
        characters[begin:end] = chunk.text
    return "".join(characters)
