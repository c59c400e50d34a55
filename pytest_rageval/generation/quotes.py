"""Find the quotes of a draft in its sources."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rageval.generation.draft import Draft
from pytest_rageval.model.case import Passage
from pytest_rageval.text.folding import fold_compact, fold_with_offsets

__all__ = ["located_quotes", "quote_span"]

Span = tuple[int, int]


def quote_span(text: str, quote: str) -> Span | None:
    """Return where a text holds a quote, in characters; compared in NFKC, case folded, without white space."""
    at = text.find(quote) if quote.strip() else -1
    if at >= 0:
        return at, at + len(quote)
    folded = fold_compact(quote)
    return next(fold_with_offsets(text).find(folded), None) if folded and folded in fold_compact(text) else None


def located_quotes(draft: Draft) -> Iterator[tuple[str, Passage | None, Span]]:
    """Yield each quote with the first source that holds it and its place there; None and (0, 0) if none does."""
    for quote in draft.evidence:
        found = ((source, quote_span(source.text, quote)) for source in draft.sources)
        yield next(((quote, source, span) for source, span in found if span is not None), (quote, None, (0, 0)))
