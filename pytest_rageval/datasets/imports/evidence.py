"""Make evidence for imported rows: their reference texts as quotes of pages they name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from pytest_rageval.datasets.imports.cells import listed
from pytest_rageval.datasets.imports.taken import ImportResult
from pytest_rageval.datasets.source import JsonObject

__all__ = ["PAGES", "labels_of", "page_field"]

PAGES = (
    "source_file", "source_files", "file", "source", "sources", "document", "documents", "出处", "文档", "来源",
    "source_page", "source_pages", "page", "pages",
)  # fmt: skip
"""Fields that name the page of a reference text, ignoring case, with "_" for spaces and hyphens; the first wins."""

_BETWEEN_PAGES = r"\n|\|"
_NUMBERS = re.compile(r"\d+(?:\s*[-–,;]\s*\d+)*")
_WORD = re.compile(r"[\s_-]+|(?<=[a-z])(?=[A-Z])")


def labels_of(
    passages: object,
    pages: Mapping[str, str],
    ids: Iterable[object] | None,
    fields: JsonObject,
    result: ImportResult,
    *,
    in_table: bool,
) -> JsonObject:
    """Return a row's ``evidence`` if its positive passages have pages, else its judged ids as ``qrels``.

    The passages name their pages. If none does, a field of the row names them: a single page is the page of all
    passages, and as many pages as passages are their pages in order. If the counts differ, there is no evidence, and
    ``result`` counts it.

    Args:
        passages: the passages of the row in our format, or None.
        pages: id of a passage -> the page that it names.
        ids: the ids that the row judges relevant, or None.
        fields: its other fields; the one whose pages are used is removed.
        result: counts skipped fields.
        in_table: whether these are cells of a table, with pages in lines or between "|".
    """
    objects = [each for each in passages if isinstance(each, dict)] if isinstance(passages, list) else []
    positives = [passage for passage in objects if passage.get("role") == "positive"]
    quoted = [passage for passage in positives if str(passage.get("text", "")).strip()]
    own = [pages[str(passage.get("id"))] for passage in quoted if str(passage.get("id")) in pages]
    names: Sequence[object] = own or _of_row(len(quoted), fields, result, in_table=in_table)
    if quoted and len(names) == len(quoted):
        pairs = dict.fromkeys(zip(names, (str(passage["text"]) for passage in quoted), strict=True))
        return {"evidence": [{"page": page, "quote": quote} for page, quote in pairs]}
    if own:
        result.fields["references without a page"] += len(quoted) - len(own)
    return {} if ids is None else {"qrels": {str(name): 1 for name in ids}}


def page_field(fields: Mapping[str, object], between: str | None) -> tuple[str, list[object]]:
    """Return the first of `PAGES` that names documents, and their names; ``("", [])`` if there is none.

    A number is a page within a document, not the name of a document.
    """
    names = {_WORD.sub("_", name).casefold(): name for name in fields}
    for known in PAGES:
        pages = listed(fields[names[known]], between) if known in names else []
        if len(pages) == 1 and isinstance(pages[0], str):
            pages = [page.strip() for page in re.split("[;；]", pages[0]) if page.strip()]
        if pages and all(
            isinstance(page, str) and page.strip() and not _NUMBERS.fullmatch(page.strip()) for page in pages
        ):
            return names[known], pages
    return "", []


def _of_row(count: int, fields: JsonObject, result: ImportResult, *, in_table: bool) -> Sequence[object]:
    """Return the pages of ``count`` passages that a field of the row names, and remove that field."""
    name, pages = page_field(fields, _BETWEEN_PAGES if in_table else None)
    if not name or not count:
        return []
    if len(pages) not in (1, count):
        if isinstance(fields[name], str):  # a list cannot be a facet and is already counted by its name
            result.fields[f"{name}: not one page for each reference"] += 1
        return []
    del fields[name]
    return pages * count if len(pages) == 1 else pages
