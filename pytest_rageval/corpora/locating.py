"""Find the places of evidence in a corpus while it is read; only documents that evidence names are looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from pytest_rageval.corpora.document import Document
from pytest_rageval.errors import DataError, found
from pytest_rageval.model.case import Instance, Passage
from pytest_rageval.model.evidence import Chunk, EvidencePlace, EvidenceUnit, LocatedEvidence
from pytest_rageval.model.ranking import page_of
from pytest_rageval.text.folding import Folded, fold_compact, fold_with_offsets

__all__ = ["EvidenceLocator", "located_in", "names_of"]

SHOWN = 60
"""Characters of a quote in a message."""


class EvidenceLocator:
    """Finds evidence in the documents of a corpus.

    A quote is found by its folded text (NFKC, case folded, without white space); every occurrence is a place. It is
    looked for in the document whose id is its page, and in all documents that belong to this page. A span is one place
    of the document whose id is its page.

    Args:
        instances: the records whose evidence is looked for.
    """

    def __init__(self, instances: Iterable[Instance]) -> None:
        self._units: dict[str, dict[EvidenceUnit, str]] = {}
        self._places: dict[EvidenceUnit, list[EvidencePlace]] = {}
        self._chunks: dict[str, Chunk] = {}
        self._wrong: dict[EvidenceUnit, str] = {}
        self._pages: set[str] = set()
        self._example = ""
        for instance in instances:
            for unit in (unit for alternative in instance.evidence for unit in alternative):
                self._units.setdefault(unit.page, {}).setdefault(unit, instance.origin)

    def wants(self, document: Document) -> bool:
        """Return whether evidence names a document or its page."""
        self._example = self._example or document.page or document.id
        return document.id in self._units or document.page in self._units

    def look(self, document: Document, passages: Iterable[Passage]) -> None:
        """Look for evidence in a document, and keep its passages."""
        folded = fold_with_offsets(document.text)
        for page in {document.id, document.page} & self._units.keys():
            self._pages.add(page)
            for unit in self._units[page]:
                places = self._quoted(unit, document, folded) if unit.span is None else self._spanned(unit, document)
                self._places.setdefault(unit, []).extend(places)
        for passage in passages:
            span = passage.span or (0, len(passage.text))
            self._chunks[passage.id] = Chunk(document.id, span, passage.text)

    def check(self) -> None:
        """Raise a `DataError` for a span that lies outside its document, or that holds only white space."""
        for unit, problem in self._wrong.items():
            raise DataError(self._units[unit.page][unit], problem)

    def located(self, holds: Callable[[str], bool]) -> LocatedEvidence:
        """Return what was found; ``holds`` is that of `LocatedEvidence`."""
        places: Mapping[EvidenceUnit, tuple[EvidencePlace, ...]] = {
            unit: tuple(places) for unit, places in self._places.items() if places
        }
        return LocatedEvidence(places, self._chunks, holds)

    def has_whole(self, instance: Instance) -> bool:
        """Return whether the corpus holds every unit of an alternative of a record's evidence."""
        return any(all(self._places.get(unit) for unit in alternative) for alternative in instance.evidence)

    def missing(self, instance: Instance) -> Iterator[tuple[EvidenceUnit, str]]:
        """Yield the units of a record that the corpus does not hold, each with one sentence."""
        for unit in dict.fromkeys(unit for alternative in instance.evidence for unit in alternative):
            if self._places.get(unit):
                continue
            if unit in self._wrong:
                yield unit, self._wrong[unit]
            elif unit.page not in self._pages:
                named = f"the corpus has no document {found(unit.page)}, which its evidence names as page"
                yield unit, f"{named}; it names documents as {found(self._example)}" if self._example else named
            else:
                what = f"quote {found(unit.quote, SHOWN)}" if unit.span is None else f"span {list(unit.span)}"
                yield unit, f"the {what} of its evidence is not in the document {found(unit.page)}"

    def _quoted(self, unit: EvidenceUnit, document: Document, folded: Folded) -> Iterator[EvidencePlace]:
        for begin, end in folded.find(fold_compact(unit.quote)):
            yield EvidencePlace(document.id, (begin, end), document.text[begin:end])

    def _spanned(self, unit: EvidenceUnit, document: Document) -> Iterator[EvidencePlace]:
        if unit.span is None or document.id != unit.page:
            return
        begin, end = unit.span
        text, length = document.text[begin:end], len(document.text)
        if end <= length and not text.isspace():
            yield EvidencePlace(document.id, unit.span, text)
            return
        of = f"the document {found(unit.page)}"
        what = (
            f"lies outside {of}, which has {length} code points" if end > length else f"holds only white space of {of}"
        )
        self._wrong[unit] = f"the span {list(unit.span)} of its evidence {what}; correct the span"


def located_in(passages: Sequence[Passage], instances: Iterable[Instance]) -> LocatedEvidence:
    """Return where passages hold the evidence of records, for a corpus whose documents are not read.

    A passage without a span is a document. Passages of one page with spans are put together to its document.
    """
    locator = EvidenceLocator(instances)
    cut: dict[str, list[Passage]] = {}
    for passage in passages:
        page = passage.page or page_of(passage.id)
        if passage.span is not None and passage.span[1] - passage.span[0] == len(passage.text):
            cut.setdefault(page, []).append(passage)
            continue
        document = Document(passage.id, passage.text, page=page)
        if locator.wants(document):
            locator.look(document, [replace(passage, span=None)])
    for page, chunks in cut.items():
        document = Document(page, _joined(chunks))
        if locator.wants(document):
            locator.look(document, chunks)
    return locator.located(names_of(passages).__contains__)


def names_of(passages: Iterable[Passage]) -> frozenset[str]:
    """Return the ids and the pages of passages."""
    return frozenset(name for passage in passages for name in (passage.id, passage.page or page_of(passage.id)))


def _joined(chunks: Sequence[Passage]) -> str:
    """Return the text of a document from its chunks; what no chunk has is blank."""
    characters: list[str] = []
    for chunk in chunks:
        begin, end = chunk.span or (0, 0)
        characters += " " * (end - len(characters))
        characters[begin:end] = chunk.text
    return "".join(characters)
