"""Convert the labels of a record, chunk ids or positive passages, to quotes of documents."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import accumulate

from pytest_rageval.commands.anchoring.quote_text import quote_of
from pytest_rageval.datasets.source import JsonObject
from pytest_rageval.errors import short_repr
from pytest_rageval.metrics.shared.matching import fold, slot_hits
from pytest_rageval.model.case import Instance, Passage

__all__ = ["AnchoredRecord", "LabelledCorpus", "anchor_record"]


@dataclass(frozen=True, slots=True)
class AnchoredRecord:
    """A record whose labels were replaced by quotes, or that stays unchanged.

    Attributes:
        record: the record to write.
        quotes: the quotes of its new ``evidence``; () for an unchanged record.
        faults: why it is unchanged: one sentence for each label that is missing in the corpus.
        n_irrelevant: number of qrels left out because their grade is 0.
        n_ambiguous: number of positive passages that occur in several documents; the first document is used.
    """

    record: JsonObject
    quotes: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    n_irrelevant: int = 0
    n_ambiguous: int = 0

    def n_with_answer(self, instance: Instance) -> int:
        """Return the number of quotes that contain an alias of a gold slot."""
        return sum(any(slot_hits(instance.gold, quote)) for quote in self.quotes)


class LabelledCorpus:
    """A corpus for looking up chunk ids and texts.

    Args:
        passages: its passages under the labelled chunking; their ids are the document's id or ``document#n``.
        documents: its whole documents.
    """

    def __init__(self, passages: Iterable[Passage], documents: Iterable[Passage]) -> None:
        self._documents = {document.id: document.text for document in documents}
        self._names = tuple(self._documents)
        self._passages = {each.id: (self._document_of(each.id), each.text) for each in passages}
        texts = [fold(text) for text in self._documents.values()]
        self._text = "\0".join(texts)
        self._starts = list(accumulate((len(text) + 1 for text in texts), initial=0))

    def chunk(self, name: str) -> tuple[str, str] | None:
        """Return the document's id and the text of the passage with this id; None for an unknown id."""
        return self._passages.get(name)

    def quote(self, page: str, text: str, instance: Instance) -> tuple[str, str]:
        """Return the document's id, ``page``, and the quote of a labelled text in this document."""
        return page, quote_of(text, instance.gold, self._documents[page])

    def documents_with(self, text: str) -> list[str]:
        """Return the ids of the documents that contain a text, each once; both are compared in folded form."""
        pattern, at = fold(text), 0
        names: dict[str, None] = {}
        while pattern and (at := self._text.find(pattern, at)) >= 0:
            place = bisect_right(self._starts, at) - 1
            names[self._names[place]] = None
            at = self._starts[place + 1]
        return list(names)

    def _document_of(self, name: str) -> str:
        """Return the id of a passage's document: the same id, or for a chunk the part before the last ``#``."""
        return name if name in self._documents else name.rpartition("#")[0]


def anchor_record(record: JsonObject, instance: Instance, corpus: LabelledCorpus) -> AnchoredRecord:
    """Replace the qrels of a record, or if none is relevant its positive passages, by ``evidence``.

    `quote_of` chooses the quote of a chunk or passage. A record stays unchanged if it has no labels, has evidence, or
    has a label that is missing in the corpus.
    """
    if "evidence" in record:
        return AnchoredRecord(record)
    relevant = {name: grade for name, grade in instance.qrels.items() if grade > 0}
    if relevant:
        return _anchor_qrels(record, instance, relevant, corpus)
    return _anchor_positives(record, instance, corpus)


def _anchor_qrels(
    record: JsonObject, instance: Instance, relevant: Mapping[str, int], corpus: LabelledCorpus
) -> AnchoredRecord:
    """Replace relevant qrels, chunk id -> grade, by quotes of these chunks."""
    grades: dict[tuple[str, str], int] = {}
    faults = []
    for name, grade in relevant.items():
        chunk = corpus.chunk(name)
        if chunk is None:
            faults.append(f"qrels: {short_repr(name)} is not in the corpus")
            continue
        unit = corpus.quote(*chunk, instance)
        grades[unit] = max(grade, grades.get(unit, 0))
    if faults:
        return AnchoredRecord(record, faults=tuple(faults))
    return replace(_with_evidence(record, grades, "qrels"), n_irrelevant=len(instance.qrels) - len(relevant))


def _anchor_positives(record: JsonObject, instance: Instance, corpus: LabelledCorpus) -> AnchoredRecord:
    """Replace positive passages by quotes of the documents that contain their texts."""
    positives = [passage for passage in instance.passages or () if passage.role == "positive"]
    documents = [corpus.documents_with(passage.text) for passage in positives]
    pairs = list(zip(positives, documents, strict=True))
    faults = tuple(f"passages: no document contains the text of {short_repr(p.id)}" for p, names in pairs if not names)
    if faults or not pairs:
        return AnchoredRecord(record, faults=faults)
    grades = {
        corpus.quote(_choose_document(passage, names, corpus), passage.text, instance): 1 for passage, names in pairs
    }
    ambiguous = sum(len(names) > 1 for names in documents)
    return replace(_with_evidence(record, grades, "passages"), n_irrelevant=len(instance.qrels), n_ambiguous=ambiguous)


def _choose_document(passage: Passage, names: list[str], corpus: LabelledCorpus) -> str:
    """Return one of the documents ``names`` that contain a passage: the one in its id, or else the first."""
    chunk = corpus.chunk(passage.id)
    return chunk[0] if chunk is not None and chunk[0] in names else names[0]


def _with_evidence(record: JsonObject, grades: Mapping[tuple[str, str], int], labels: str) -> AnchoredRecord:
    """Return a record without qrels, with ``evidence`` after the field ``labels`` that it replaces.

    ``grades`` maps (document, quote) to the grade.
    """
    units = [
        {"page": page, "quote": quote} | ({"grade": grade} if grade != 1 else {})
        for (page, quote), grade in grades.items()
    ]
    changed: JsonObject = {}
    for name, value in record.items():
        if name != "qrels":
            changed[name] = value
        if name == labels:
            changed["evidence"] = units
    return AnchoredRecord(changed, tuple(quote for _, quote in grades))
