"""Locate evidence in retrieved passages: by their document spans, else by their texts."""

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

__all__ = ["MIN_RUN", "RetrievedPassage", "retrieved_passages"]

MIN_RUN = 12
"""Smallest length of a shared run of characters; a shorter run counts only if it is half of the quote.

Without this limit, five other passages of a page contain half of a 40-character quote of English news by chance in
35 % of cases.
"""

WHOLE = (0, sys.maxsize)
"""The span of a whole document."""

_UUID = re.compile("[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}", re.IGNORECASE)
"""The form of LlamaIndex's ids of unnamed documents."""


@dataclass(frozen=True, slots=True)
class RetrievedPassage:
    """A retrieved passage with its document span or its text.

    Attributes:
        id: its id.
        document: the id of the document that it was cut from; "" if its span is unknown.
        span: its start and end in the document; None if only its text is known.
        page: the id of the page that it names, or "".
        text: its text; "" if the span is known.
    """

    id: str
    document: str = ""
    span: Span | None = None
    page: str = ""
    text: str = ""

    def held_span(self, page: str, place: EvidencePlace) -> Span:
        """Return the part of a place that the passage holds, as code points of the place; (0, 0) if it holds none."""
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
        is_long = run and (2 * len(run) >= len(quote.text) or _weight(run) >= MIN_RUN)
        return quote.span(begin, end) if is_long else (0, 0)


def retrieved_passages(
    items: Iterable[ScoredPassage], located: LocatedEvidence | None, pages: Collection[str]
) -> list[RetrievedPassage] | None:
    """Return the retrieved passages with their spans or texts, in order; None if a passage has neither.

    Args:
        items: the retrieved passages, best first.
        located: the places of the evidence in the corpus; None if no corpus was read.
        pages: the ids of the pages and documents of the evidence.
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
    """Return the passage with its span, from the corpus or from the passage itself; None if the span is unknown."""
    chunk = located.chunks.get(item.doc_id)
    if chunk is not None and item.text in ("", chunk.text):
        return RetrievedPassage(item.doc_id, chunk.document, chunk.span)
    if item.span is not None and item.page_id in pages:
        return RetrievedPassage(item.doc_id, item.page_id, item.span)
    if item.text or not located.holds(item.doc_id):
        return None
    return RetrievedPassage(item.doc_id, item.doc_id, WHOLE)  # a whole document, or a passage of one without evidence


def _page(item: ScoredPassage, located: LocatedEvidence | None, pages: Collection[str]) -> str:
    """Return the page that a passage names, in its field or by its id, or "".

    A path names the page that it ends with, because loaders write absolute paths. A UUID, or a name that is not in the
    corpus, is not a page.
    """
    of_id = page_of(item.doc_id)
    page = item.page or (of_id if of_id != item.doc_id or of_id in pages else "")
    if page in pages:
        return page
    suffixes = [each for each in pages if page.replace("\\", "/").endswith(f"/{each}")]
    if suffixes:
        return max(suffixes, key=len)
    return "" if _UUID.fullmatch(page) or (located is not None and not located.holds(page)) else page


def _weight(run: str) -> int:
    """Return the length of a run; a Han character counts twice."""
    return len(run) + sum(map(has_chinese, run))


_folded_place = lru_cache(maxsize=256)(fold_with_offsets)
