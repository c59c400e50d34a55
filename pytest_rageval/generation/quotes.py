"""Find the quotes of a draft in its sources."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rageval.generation.draft import Draft
from pytest_rageval.model.case import Passage
from pytest_rageval.text.folding import fold_compact, fold_with_offsets

__all__ = ["located_quotes", "quote_span"]

Span = tuple[int, int]


def quote_span(text: str, quote: str) -> Span | None:
    """Return the start and end of a quote in a text; None if it is not there.

    An exact match comes first; else case, white space and Unicode forms (NFKC) are ignored.
    """
    start = text.find(quote) if quote.strip() else -1
    if start >= 0:
        return start, start + len(quote)
    folded = fold_compact(quote)
    return next(fold_with_offsets(text).find(folded), None) if folded and folded in fold_compact(text) else None


def located_quotes(draft: Draft) -> Iterator[tuple[str, Passage | None, Span]]:
    """Yield each quote of a draft with the first source that contains it and its span there.

    A quote that is in no source has None and (0, 0).
    """
    for quote in draft.evidence:
        spans = ((source, quote_span(source.text, quote)) for source in draft.sources)
        yield next(((quote, source, span) for source, span in spans if span is not None), (quote, None, (0, 0)))
