"""Find the pages of a wiki by title or by similar titles."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from pytest_rageval.environments.shortening import first_sentences
from pytest_rageval.environments.similar_titles import SimilarTitles
from pytest_rageval.model.case import Passage
from pytest_rageval.model.ranking import page_of
from pytest_rageval.retrieval.index_store import IndexStore
from pytest_rageval.text.unicode import nfkc

__all__ = ["Page", "Pages", "folded", "paragraphs"]

SUMMARY_SENTENCES = 5
SIMILAR = 5

_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")
_QUALIFIER = re.compile(r"\([^()]*\)\s*\Z")


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the wiki.

    Attributes:
        id: the page's id in its corpus.
        title: its title, or its id if it has none.
        text: its chunks, joined in order.
    """

    id: str
    title: str
    text: str

    @property
    def summary(self) -> str:
        """The first paragraph, cut after five sentences."""
        return first_sentences(next(iter(paragraphs(self.text)), ""), SUMMARY_SENTENCES)


class Pages:
    """The pages of a corpus.

    Args:
        passages: the corpus. Passages with the same ``page`` are chunks of one page; other passages are pages.
        store: where the index of a large corpus is stored; None keeps it in memory.
    """

    def __init__(self, passages: Iterable[Passage], store: IndexStore | None = None) -> None:
        self.pages = _join_pages(passages)
        self._exact: dict[str, Page] = {}
        self._folded: dict[str, Page] = {}
        self._bare: dict[str, Page | None] = {}
        for page in self.pages:
            self._exact.setdefault(page.title, page)
            self._folded.setdefault(folded(page.title), page)
            bare = _bare(page.title)
            self._bare[bare] = None if bare in self._bare else page  # ambiguous: several pages share the bare title
        self._similar = SimilarTitles(self.pages, store)

    def find(self, title: str) -> Page | None:
        """Return the page with a title: exact, else folded, else without a final ``(...)`` and punctuation."""
        page = self._exact.get(title) or self._folded.get(folded(title))
        return page or self._bare.get(_bare(title) or "\0")

    def similar(self, title: str) -> list[str]:
        """Return the titles of the five most similar pages."""
        return self._similar.near(title, SIMILAR)


def folded(text: str) -> str:
    """Normalize a text: NFKC, case folding, ``_`` to space, single spaces."""
    return " ".join(nfkc(nfkc(text).casefold()).replace("_", " ").split())


def paragraphs(text: str) -> list[str]:
    """Return the parts of a text between blank lines."""
    return [part for part in _BLANK_LINE.split(text.strip()) if part]


def _bare(title: str) -> str:
    """Return a folded title without a final ``(...)`` and without punctuation."""
    text = _QUALIFIER.sub("", folded(title))
    return " ".join("".join(" " if unicodedata.category(char)[0] == "P" else char for char in text).split())


def _join_pages(passages: Iterable[Passage]) -> list[Page]:
    """Join passages into pages, in the order of first occurrence."""
    chunks: dict[str, list[Passage]] = {}
    for passage in passages:
        chunks.setdefault(passage.page or page_of(passage.id), []).append(passage)
    return [Page(name, _title(name, parts), _text(parts)) for name, parts in chunks.items()]


def _title(name: str, chunks: list[Passage]) -> str:
    return next((chunk.title for chunk in chunks if chunk.title), name)


def _text(chunks: list[Passage]) -> str:
    """Return the text of a page. Chunks with positions may overlap; chunks without become paragraphs."""
    text, end = chunks[0].text, chunks[0].span
    for chunk in chunks[1:]:
        if chunk.span is None or end is None or chunk.span[0] < end[0]:
            text += f"\n\n{chunk.text}"
        else:
            gap = chunk.span[0] - end[1]
            text += chunk.text[-gap:] if gap < 0 else ("\n\n" if gap > 1 else " " * gap) + chunk.text
        end = chunk.span
    return text
