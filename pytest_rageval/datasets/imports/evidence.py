"""Evidence of imported rows: their reference texts as quotes of the pages that they name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pytest_rageval.datasets.imports.cells import listed
from pytest_rageval.datasets.source import JsonObject

__all__ = ["PAGES", "labels_of"]

PAGES = (
    "document", "documents", "file", "page", "pages", "source", "source_file", "source_files", "source_page",
    "source_pages", "sources", "出处", "文档", "来源",
)  # fmt: skip
"""Fields that name the page of a reference text, without case, and with "_" for spaces and hyphens."""

_BETWEEN_PAGES = r"\n|\|"
_WORD = re.compile(r"[\s_-]+|(?<=[a-z])(?=[A-Z])")


def labels_of(passages: object, ids: Iterable[object] | None, fields: JsonObject, *, in_table: bool) -> JsonObject:
    """Return a row's ``evidence`` if it names the pages of its positive passages, else its judged ids as ``qrels``.

    One page is that of all passages; several are the pages of as many passages. If the counts differ there is no
    evidence.

    Args:
        passages: the passages of the row, as our format has them, or None.
        ids: the ids that the row judges relevant, or None.
        fields: its other fields; the one with the pages is taken out.
        in_table: whether these are cells of a table, where pages stand in lines or between "|".
    """
    positives = [each for each in passages if each.get("role") == "positive"] if isinstance(passages, list) else []
    units = _units(positives, fields, in_table=in_table)
    if units:
        return {"evidence": units}
    return {} if ids is None else {"qrels": {str(name): 1 for name in ids}}


def _units(positives: Sequence[JsonObject], fields: JsonObject, *, in_table: bool) -> list[JsonObject]:
    quotes = [str(passage["text"]) for passage in positives if str(passage.get("text", "")).strip()]
    name = next((name for name in fields if _WORD.sub("_", name).casefold() in PAGES), None)
    if not quotes or name is None:
        return []
    pages = listed(fields[name], _BETWEEN_PAGES if in_table else None)
    if not all(isinstance(page, str) and page.strip() for page in pages) or len(pages) not in (1, len(quotes)):
        return []
    del fields[name]
    pairs = zip(pages * len(quotes) if len(pages) == 1 else pages, quotes, strict=True)
    return [{"page": page, "quote": quote} for page, quote in dict.fromkeys(pairs)]
