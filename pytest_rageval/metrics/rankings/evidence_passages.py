"""Locate evidence in retrieved passages: by their span in the document, else by their text."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache

from pytest_rageval.model.evidence import EvidencePlace, LocatedEvidence, Span
from pytest_rageval.model.ranking import ScoredPassage, page_of
from pytest_rageval.text.folding import fold_compact, fold_with_offsets, shared_run
from pytest_rageval.text.language import has_chinese

__all__ = ["LEAST_RUN", "RetrievedPassage", "retrieved_passages"]

LEAST_RUN = 12
"""Shorter runs count only if they are half of the quote. If all runs counted, five other passages of a page would hold
half of 40 characters of English news by chance in 35 % of cases."""

WHOLE = (0, sys.maxsize)

_UUID = re.compile("[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}", re.IGNORECASE)
"""The form of LlamaIndex's ids of unnamed documents."""


@dataclass(frozen=True, slots=True)
class RetrievedPassage:
    """A retrieved passage with its span or its text.

    Attributes:
        id: its id.
        document: the document that it was cut from, if its span is known.
        span: its start and end there; None if only its text is known.
        page: the page that it names, or "".
        text: its text, if the span is unknown.
    """

    id: str
    document: str = ""
    span: Span | None = None
    page: str = ""
    text: str = ""

    def held(self, page: str, place: EvidencePlace) -> Span:
        """Return which code points of a place on a page the passage holds; (0, 0) for none."""
        if self.span is not None:
            if self.document != place.document:
                return 0, 0
            begin, end = (min(max(edge, place.span[0]), place.span[1]) - place.span[0] for edge in self.span)
            return begin, end
        if not self.text or self.page not in ("", page, place.document):
            return 0, 0
        quote = _folded_place(place.text)
        begin, end = shared_run(quote.text, fold_compact(self.text))
        run = quote.text[begin:end]
        counts = run and (2 * len(run) >= len(quote.text) or _weight(run) >= LEAST_RUN)
        return quote.span(begin, end) if counts else (0, 0)


def retrieved_passages(
    items: Iterable[ScoredPassage], located: LocatedEvidence | None, pages: Collection[str]
) -> list[RetrievedPassage] | None:
    """Return the retrieved passages with their spans or texts, in order; None if one has neither.

    Args:
        items: the passages.
        located: the evidence in the corpus; None if no corpus was read.
        pages: the pages and documents of the evidence.
    """
    passages = []
    for item in items:
        passage = _of_corpus(item, located, pages) if located is not None else None
        if passage is None and item.text:
            passage = RetrievedPassage(item.doc_id, page=_page(item, located, pages), text=item.text)
        if passage is None:
            return None
        passages.append(passage)
    return passages


def _of_corpus(item: ScoredPassage, located: LocatedEvidence, pages: Collection[str]) -> RetrievedPassage | None:
    """Return a passage that is in the corpus, or that names its span in a document of the evidence; else None."""
    chunk = located.chunks.get(item.doc_id)
    if chunk is not None and item.text in ("", chunk.text):
        return RetrievedPassage(item.doc_id, chunk.document, chunk.span)
    if item.span is not None and item.page_id in pages:
        return RetrievedPassage(item.doc_id, item.page_id, item.span)
    if item.text or not located.holds(item.doc_id):
        return None
    return RetrievedPassage(item.doc_id, item.doc_id, WHOLE)  # a whole document, or a passage of one without evidence


def _page(item: ScoredPassage, located: LocatedEvidence | None, pages: Collection[str]) -> str:
    """Return the page that a passage names, itself or by its id, or "".

    A path names the page that it ends with, because loaders write absolute paths. A UUID, or a name that the corpus
    does not know, is not a page.
    """
    of_id = page_of(item.doc_id)
    page = item.page or (of_id if of_id != item.doc_id or of_id in pages else "")
    if page in pages:
        return page
    ends = [each for each in pages if page.replace("\\", "/").endswith(f"/{each}")]
    if ends:
        return max(ends, key=len)
    return "" if _UUID.fullmatch(page) or (located is not None and not located.holds(page)) else page


def _weight(run: str) -> int:
    return len(run) + sum(map(has_chinese, run))


_folded_place = lru_cache(maxsize=256)(fold_with_offsets)
