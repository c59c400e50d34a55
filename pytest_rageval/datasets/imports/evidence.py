"""Build evidence for imported rows: reference texts as quotes from the pages they name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from pytest_rageval.datasets.imports.cells import list_items
from pytest_rageval.datasets.imports.import_result import ImportResult
from pytest_rageval.datasets.source import JsonObject

__all__ = ["PAGES", "evidence_or_qrels", "page_field"]

PAGES = (
    "source_file", "source_files", "file", "source", "sources", "document", "documents", "出处", "文档", "来源",
    "source_page", "source_pages", "page", "pages",
)  # fmt: skip
"""Fields that name the page of a reference text, ignoring case, with "_" for spaces and hyphens; the first wins."""

_BETWEEN_PAGES = r"\n|\|"
_NUMBERS = re.compile(r"\d+(?:\s*[-–,;]\s*\d+)*")
_WORD = re.compile(r"[\s_-]+|(?<=[a-z])(?=[A-Z])")


def evidence_or_qrels(
    passages: object,
    pages: Mapping[str, str],
    ids: Iterable[object] | None,
    fields: JsonObject,
    result: ImportResult,
    *,
    in_table: bool,
) -> JsonObject:
    """Return a row's ``evidence`` if the pages of its positive passages are known, else its judged ids as ``qrels``.

    The pages come from the passages. If no passage names a page, they come from a field of the row: a single page
    applies to all passages; as many pages as passages apply in order. If the counts differ, there is no evidence, and
    ``result`` counts the field as skipped.

    Args:
        passages: the passages of the row in our format, or None.
        pages: id of a passage -> the page that it names.
        ids: the ids that the row judges relevant, or None.
        fields: the other fields of the row; the field with the pages is removed.
        result: counts skipped fields.
        in_table: whether the fields are table cells, in which line breaks or "|" separate pages.
    """
    objects = [each for each in passages if isinstance(each, dict)] if isinstance(passages, list) else []
    positives = [passage for passage in objects if passage.get("role") == "positive"]
    quoted = [passage for passage in positives if str(passage.get("text", "")).strip()]
    passage_pages = [pages[str(passage.get("id"))] for passage in quoted if str(passage.get("id")) in pages]
    names: Sequence[object] = passage_pages or _pages_of_row(len(quoted), fields, result, in_table=in_table)
    if quoted and len(names) == len(quoted):
        pairs = dict.fromkeys(zip(names, (str(passage["text"]) for passage in quoted), strict=True))
        return {"evidence": [{"page": page, "quote": quote} for page, quote in pairs]}
    if passage_pages:
        result.fields["references without a page"] += len(quoted) - len(passage_pages)
    return {} if ids is None else {"qrels": {str(name): 1 for name in ids}}


def page_field(fields: Mapping[str, object], between: str | None) -> tuple[str, list[object]]:
    """Return the first field in `PAGES` that names documents, and the names; ``("", [])`` if there is none.

    A number is a page number within a document, not a document.
    """
    names = {_WORD.sub("_", name).casefold(): name for name in fields}
    for field in PAGES:
        pages = list_items(fields[names[field]], between) if field in names else []
        if len(pages) == 1 and isinstance(pages[0], str):
            pages = [page.strip() for page in re.split("[;；]", pages[0]) if page.strip()]
        if pages and all(
            isinstance(page, str) and page.strip() and not _NUMBERS.fullmatch(page.strip()) for page in pages
        ):
            return names[field], pages
    return "", []


def _pages_of_row(count: int, fields: JsonObject, result: ImportResult, *, in_table: bool) -> Sequence[object]:
    """Return the pages of ``count`` passages from a field of the row, and remove that field."""
    name, pages = page_field(fields, _BETWEEN_PAGES if in_table else None)
    if not name or not count:
        return []
    if len(pages) not in (1, count):
        if isinstance(fields[name], str):  # a list cannot be a facet and is already counted by its name
            result.fields[f"{name}: not one page for each reference"] += 1
        return []
    del fields[name]
    return pages * count if len(pages) == 1 else pages
