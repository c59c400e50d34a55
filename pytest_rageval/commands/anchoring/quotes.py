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

__all__ = ["Anchored", "LabelledCorpus", "anchored"]


@dataclass(frozen=True, slots=True)
class Anchored:
    """A record with quotes instead of labels, or unchanged.

    Attributes:
        record: the record to write.
        quotes: the quotes of its new ``evidence``; () for an unchanged record.
        faults: the reasons why it is unchanged, one sentence per label that is missing in the corpus.
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
        """Return the document and the text of a passage; None for an unknown id."""
        return self._passages.get(name)

    def quote(self, page: str, text: str, instance: Instance) -> tuple[str, str]:
        """Return the page and the quote of a labelled text on it."""
        return page, quote_of(text, instance.gold, self._documents[page])

    def holders(self, text: str) -> list[str]:
        """Return the unique ids of the documents that contain a folded text."""
        pattern, at = fold(text), 0
        names: dict[str, None] = {}
        while pattern and (at := self._text.find(pattern, at)) >= 0:
            place = bisect_right(self._starts, at) - 1
            names[self._names[place]] = None
            at = self._starts[place + 1]
        return list(names)

    def _document_of(self, name: str) -> str:
        """Return the document of a passage: its own id, or with chunking the part before the last ``#``."""
        return name if name in self._documents else name.rpartition("#")[0]


def anchored(record: JsonObject, instance: Instance, corpus: LabelledCorpus) -> Anchored:
    """Return a record with ``evidence`` made of its qrels, or else of its positive passages.

    `quote_of` chooses the quote of a chunk or passage. Positive passages count only without relevant qrels. A record
    stays unchanged if it has no labels, has evidence, or has a label that is missing in the corpus.
    """
    if "evidence" in record:
        return Anchored(record)
    relevant = {name: grade for name, grade in instance.qrels.items() if grade > 0}
    return _by_qrels(record, instance, relevant, corpus) if relevant else _by_positives(record, instance, corpus)


def _by_qrels(record: JsonObject, instance: Instance, relevant: Mapping[str, int], corpus: LabelledCorpus) -> Anchored:
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
        return Anchored(record, faults=tuple(faults))
    return replace(_with(record, grades, "qrels"), n_irrelevant=len(instance.qrels) - len(relevant))


def _by_positives(record: JsonObject, instance: Instance, corpus: LabelledCorpus) -> Anchored:
    positives = [passage for passage in instance.passages or () if passage.role == "positive"]
    holders = [corpus.holders(passage.text) for passage in positives]
    pairs = list(zip(positives, holders, strict=True))
    faults = tuple(f"passages: no document contains the text of {short_repr(p.id)}" for p, names in pairs if not names)
    if faults or not pairs:
        return Anchored(record, faults=faults)
    grades = {corpus.quote(_document(passage, names, corpus), passage.text, instance): 1 for passage, names in pairs}
    ambiguous = sum(len(names) > 1 for names in holders)
    return replace(_with(record, grades, "passages"), n_irrelevant=len(instance.qrels), n_ambiguous=ambiguous)


def _document(passage: Passage, names: list[str], corpus: LabelledCorpus) -> str:
    """Return the document of a passage: the one in its id, or else the first that contains its text."""
    chunk = corpus.chunk(passage.id)
    return chunk[0] if chunk is not None and chunk[0] in names else names[0]


def _with(record: JsonObject, grades: Mapping[tuple[str, str], int], labels: str) -> Anchored:
    """Return a record with evidence after the labels that it replaces, and without qrels."""
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
    return Anchored(changed, tuple(quote for _, quote in grades))
