"""Evidence of imported rows: their reference texts as quotes of the pages that they name."""

from __future__ import annotations

import re

from pytest_rageval.datasets.imports.cells import listed
from pytest_rageval.datasets.source import JsonObject

__all__ = ["PAGES", "evidence_units"]

PAGES = (
    "document", "documents", "file", "page", "pages", "source", "source_file", "source_files", "source_page",
    "source_pages", "sources", "出处", "文档", "来源",
)  # fmt: skip
"""Fields that name the page of a reference text, without case, and with "_" for spaces and hyphens."""

_BETWEEN_PAGES = r"\n|\|"
_WORD = re.compile(r"[\s_-]+|(?<=[a-z])(?=[A-Z])")


def evidence_units(texts: object, fields: JsonObject, between: str | None) -> list[JsonObject]:
    """Return a row's reference texts as evidence, and take the field with their pages out of ``fields``.

    One page is that of all texts; several are the pages of as many texts. Without texts or pages, or if the counts
    differ, there is no evidence, and ``fields`` stays as it is.

    Args:
        texts: the reference texts, a list or a cell.
        fields: the other fields of the row.
        between: what stands between texts in a cell, as in `listed`.
    """
    quotes = [str(text) for text in listed(texts, between) if str(text).strip()]
    name = next((name for name in fields if _WORD.sub("_", name).casefold() in PAGES), None)
    if not quotes or name is None:
        return []
    value = fields[name]
    pages = listed(value, None if between is None else _BETWEEN_PAGES)
    if not all(isinstance(page, str) and page.strip() for page in pages) or len(pages) not in (1, len(quotes)):
        return []
    del fields[name]
    pairs = zip(pages * len(quotes) if len(pages) == 1 else pages, quotes, strict=True)
    return [{"page": page, "quote": quote} for page, quote in dict.fromkeys(pairs)]
