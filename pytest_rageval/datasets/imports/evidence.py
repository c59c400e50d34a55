"""Evidence of imported rows: their reference texts as quotes of the pages that they name."""

from __future__ import annotations

import re
from collections.abc import Sequence

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


def evidence_units(passages: Sequence[JsonObject], fields: JsonObject, *, in_table: bool) -> list[JsonObject]:
    """Return a row's reference passages as evidence, and take the field with their pages out of ``fields``.

    One page is that of all passages; several are the pages of as many passages. Without passages or pages, or if the
    counts differ, there is no evidence, and ``fields`` stays as it is.

    Args:
        passages: the positive passages of the row.
        fields: its other fields.
        in_table: whether these are cells of a table, where pages stand in lines or between "|".
    """
    quotes = [str(passage["text"]) for passage in passages if str(passage.get("text", "")).strip()]
    name = next((name for name in fields if _WORD.sub("_", name).casefold() in PAGES), None)
    if not quotes or name is None:
        return []
    pages = listed(fields[name], _BETWEEN_PAGES if in_table else None)
    if not all(isinstance(page, str) and page.strip() for page in pages) or len(pages) not in (1, len(quotes)):
        return []
    del fields[name]
    pairs = zip(pages * len(quotes) if len(pages) == 1 else pages, quotes, strict=True)
    return [{"page": page, "quote": quote} for page, quote in dict.fromkeys(pairs)]
